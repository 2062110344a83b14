! Two modules with procedures of one name, contained procedures of one name, and a type-bound one.
module mod_a
  implicit none
  type :: table
    real, pointer :: cells(:) => null()
  contains
    procedure :: grow => table_grow
  end type
  real, pointer :: kept(:) => null()
contains
  subroutine fill(n)
    integer, intent(in) :: n
    real, pointer :: p(:)
    call inner()
    allocate (p(n))
    p = 1
    kept => p
  contains
    subroutine inner()
      real, pointer :: q(:)
      allocate (q(2 * n))
      q = 2
      kept => q
    end subroutine
  end subroutine
  subroutine table_grow(this, n)
    class(table), intent(inout) :: this
    integer, intent(in) :: n
    allocate (this%cells(n))
    this%cells = 3
  end subroutine
end module

module mod_b
  implicit none
  real, pointer :: kept(:) => null()
contains
  subroutine fill(n)
    integer, intent(in) :: n
    real, pointer :: p(:)
    call inner()
    allocate (p(n))
    p = 4
    kept => p
  contains
    subroutine inner()
      real, pointer :: q(:)
      allocate (q(3 * n))
      q = 5
      kept => q
    end subroutine
  end subroutine
end module

subroutine outside(n)
  integer, intent(in) :: n
  real, pointer, save :: p(:)
  allocate (p(n))
  p = 6
end subroutine

program prog
  use mod_a, only: fill_a => fill, table
  use mod_b, only: fill_b => fill
  implicit none
  type(table), save :: t
  call fill_a(10000)
  call fill_b(40000)
  call t%grow(70000)
  call outside(150000)
  call inner(310000)
contains
  subroutine inner(n)
    integer, intent(in) :: n
    real, pointer, save :: p(:)
    allocate (p(n))
    p = 7
  end subroutine
end program
