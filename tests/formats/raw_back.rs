// Names of Rust: traits, generics, closures, and what std inlines.
mod shop {
    use std::collections::HashMap;

    pub trait Fill {
        fn fill(&self, n: usize) -> Vec<u64>;
    }
    pub struct Rows;
    pub struct Names;

    impl Fill for Rows {
        #[inline(never)]
        fn fill(&self, n: usize) -> Vec<u64> {
            let mut v = Vec::new();
            for i in 0..n {
                v.push(i as u64);
            }
            v
        }
    }

    impl<T: Clone> Fill for Option<T> {
        #[inline(never)]
        fn fill(&self, n: usize) -> Vec<u64> {
            vec![1; n]
        }
    }

    impl Names {
        #[inline(never)]
        pub fn make(n: usize) -> HashMap<String, Box<[u8]>> {
            (0..n).map(|i| (format!("name {i}"), vec![0u8; 300].into_boxed_slice())).collect()
        }
    }
}

#[inline(never)]
fn call<F: Fn() -> Vec<u64>>(f: F) -> Vec<u64> {
    f()
}

fn main() {
    use shop::Fill;
    let rows = shop::Rows.fill(1000);
    let ones = Some(3u8).fill(2000);
    let names = shop::Names::make(100);
    let closures = (call(|| vec![2; 5000]), call(|| vec![2; 6000]));
    std::mem::forget((rows, ones, names, closures));
}
