#include "machine/rubyobjects.h"

#include <stdlib.h>
#include <string.h>

#include "base/macros.h"

struct ruby_object {
	const char *variable, *name;
};

/* Sorted by variable. What the variables of Ruby 3.1 hold was printed by Ruby itself: Fiddle.dlunwrap of each that nm
 * lists. Those of 3.3 and 3.4 are the same; Set came later. */
static const struct ruby_object objects[] = {
	{ "rb_cArray", "Array" },
	{ "rb_cBasicObject", "BasicObject" },
	{ "rb_cBinding", "Binding" },
	{ "rb_cClass", "Class" },
	{ "rb_cComplex", "Complex" },
	{ "rb_cDir", "Dir" },
	{ "rb_cEncoding", "Encoding" },
	{ "rb_cEnumerator", "Enumerator" },
	{ "rb_cFalseClass", "FalseClass" },
	{ "rb_cFile", "File" },
	{ "rb_cFloat", "Float" },
	{ "rb_cHash", "Hash" },
	{ "rb_cIO", "IO" },
	{ "rb_cIOBuffer", "IO::Buffer" },
	{ "rb_cISeq", "RubyVM::InstructionSequence" },
	{ "rb_cInteger", "Integer" },
	{ "rb_cMatch", "MatchData" },
	{ "rb_cMethod", "Method" },
	{ "rb_cModule", "Module" },
	{ "rb_cNameErrorMesg", "NameError::message" },
	{ "rb_cNilClass", "NilClass" },
	{ "rb_cNumeric", "Numeric" },
	{ "rb_cObject", "Object" },
	{ "rb_cProc", "Proc" },
	{ "rb_cRactor", "Ractor" },
	{ "rb_cRandom", "Random" },
	{ "rb_cRange", "Range" },
	{ "rb_cRational", "Rational" },
	{ "rb_cRefinement", "Refinement" },
	{ "rb_cRegexp", "Regexp" },
	{ "rb_cRubyVM", "RubyVM" },
	{ "rb_cSet", "Set" },
	{ "rb_cStat", "File::Stat" },
	{ "rb_cString", "String" },
	{ "rb_cStruct", "Struct" },
	{ "rb_cSymbol", "Symbol" },
	{ "rb_cThread", "Thread" },
	{ "rb_cTime", "Time" },
	{ "rb_cTrueClass", "TrueClass" },
	{ "rb_cUnboundMethod", "UnboundMethod" },
	{ "rb_eArgError", "ArgumentError" },
	{ "rb_eEOFError", "EOFError" },
	{ "rb_eEncCompatError", "Encoding::CompatibilityError" },
	{ "rb_eEncodingError", "EncodingError" },
	{ "rb_eException", "Exception" },
	{ "rb_eFatal", "fatal" },
	{ "rb_eFloatDomainError", "FloatDomainError" },
	{ "rb_eFrozenError", "FrozenError" },
	{ "rb_eIOError", "IOError" },
	{ "rb_eIndexError", "IndexError" },
	{ "rb_eInterrupt", "Interrupt" },
	{ "rb_eKeyError", "KeyError" },
	{ "rb_eLoadError", "LoadError" },
	{ "rb_eLocalJumpError", "LocalJumpError" },
	{ "rb_eMathDomainError", "Math::DomainError" },
	{ "rb_eNameError", "NameError" },
	{ "rb_eNoMatchingPatternError", "NoMatchingPatternError" },
	{ "rb_eNoMatchingPatternKeyError", "NoMatchingPatternKeyError" },
	{ "rb_eNoMemError", "NoMemoryError" },
	{ "rb_eNoMethodError", "NoMethodError" },
	{ "rb_eNotImpError", "NotImplementedError" },
	{ "rb_eRactorIsolationError", "Ractor::IsolationError" },
	{ "rb_eRactorUnsafeError", "Ractor::UnsafeError" },
	{ "rb_eRangeError", "RangeError" },
	{ "rb_eRegexpError", "RegexpError" },
	{ "rb_eRuntimeError", "RuntimeError" },
	{ "rb_eScriptError", "ScriptError" },
	{ "rb_eSecurityError", "SecurityError" },
	{ "rb_eSignal", "SignalException" },
	{ "rb_eStandardError", "StandardError" },
	{ "rb_eStopIteration", "StopIteration" },
	{ "rb_eSyntaxError", "SyntaxError" },
	{ "rb_eSysStackError", "SystemStackError" },
	{ "rb_eSystemCallError", "SystemCallError" },
	{ "rb_eSystemExit", "SystemExit" },
	{ "rb_eThreadError", "ThreadError" },
	{ "rb_eTypeError", "TypeError" },
	{ "rb_eZeroDivError", "ZeroDivisionError" },
	{ "rb_mComparable", "Comparable" },
	{ "rb_mEnumerable", "Enumerable" },
	{ "rb_mErrno", "Errno" },
	{ "rb_mFileTest", "FileTest" },
	{ "rb_mGC", "GC" },
	{ "rb_mKernel", "Kernel" },
	{ "rb_mMath", "Math" },
	{ "rb_mProcess", "Process" },
	{ "rb_mWaitReadable", "IO::WaitReadable" },
	{ "rb_mWaitWritable", "IO::WaitWritable" },
};

static int by_variable(const void *a, const void *b)
{
	return strcmp(a, ((const struct ruby_object *)b)->variable);
}

const char *jp_ruby_variable(const char *variable)
{
	const struct ruby_object *found = bsearch(variable, objects, jp_count(objects), sizeof *objects, by_variable);
	return found ? found->name : NULL;
}
