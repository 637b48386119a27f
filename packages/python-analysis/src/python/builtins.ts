const NAMES = `ArithmeticError AssertionError AttributeError BaseException BaseExceptionGroup BlockingIOError
  BrokenPipeError BufferError BytesWarning ChildProcessError ConnectionAbortedError ConnectionError
  ConnectionRefusedError ConnectionResetError DeprecationWarning EOFError Ellipsis EncodingWarning
  EnvironmentError Exception ExceptionGroup FileExistsError FileNotFoundError FloatingPointError
  FutureWarning GeneratorExit IOError ImportError ImportWarning IndentationError IndexError
  InterruptedError IsADirectoryError KeyError KeyboardInterrupt LookupError MemoryError
  ModuleNotFoundError NameError NotADirectoryError NotImplemented NotImplementedError OSError
  OverflowError PendingDeprecationWarning PermissionError ProcessLookupError PythonFinalizationError
  RecursionError ReferenceError ResourceWarning RuntimeError RuntimeWarning StopAsyncIteration
  StopIteration SyntaxError SyntaxWarning SystemError SystemExit TabError TimeoutError TypeError
  UnboundLocalError UnicodeDecodeError UnicodeEncodeError UnicodeError UnicodeTranslateError
  UnicodeWarning UserWarning ValueError Warning WindowsError ZeroDivisionError abs aiter all anext
  any ascii bin bool breakpoint bytearray bytes callable chr classmethod compile complex copyright
  credits delattr dict dir display divmod enumerate eval exec exit filter float format frozenset
  get_ipython getattr globals hasattr hash help hex id input int isinstance issubclass iter len
  license list locals map max memoryview min next object oct open ord pow print property quit range
  repr reveal_type reversed round set setattr slice sorted staticmethod str sum super tuple type
  vars zip`

/** Names of Python 2, which occur in branches that no supported version takes. */
const FORMER = 'basestring cmp execfile long raw_input unichr unicode xrange'

const KEYWORDS = `False None True _ and as assert async await break case class continue def del elif else except
  finally for from global if import in is lambda match nonlocal not or pass raise return try while
  with yield`

/** Names that every Python module knows (3.11 to 3.14, on any system and in notebooks), and keywords. */
export const BUILT_IN = new Set(`${NAMES} ${FORMER} ${KEYWORDS}`.split(/\s+/))
