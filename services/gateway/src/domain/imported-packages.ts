/** Top-level modules of the standard library, 3.11 to 3.14. */
const STANDARD = new Set(
  `
  __future__ _thread abc aifc annotationlib antigravity argparse array ast asynchat asyncio
  asyncore atexit audioop base64 bdb binascii bisect builtins bz2 cProfile calendar cgi cgitb chunk
  cmath cmd code codecs codeop collections colorsys compileall compression concurrent configparser
  contextlib contextvars copy copyreg crypt csv ctypes curses dataclasses datetime dbm decimal
  difflib dis distutils doctest email encodings ensurepip enum errno faulthandler fcntl filecmp
  fileinput fnmatch fractions ftplib functools gc genericpath getopt getpass gettext glob graphlib
  grp gzip hashlib heapq hmac html http idlelib imaplib imghdr imp importlib inspect io ipaddress
  itertools json keyword lib2to3 linecache locale logging lzma mailbox mailcap marshal math
  mimetypes mmap modulefinder msilib msvcrt multiprocessing netrc nis nntplib nt ntpath nturl2path
  numbers opcode operator optparse os ossaudiodev pathlib pdb pickle pickletools pipes pkgutil
  platform plistlib poplib posix posixpath pprint profile pstats pty pwd py_compile pyclbr pydoc
  pydoc_data pyexpat queue quopri random re readline reprlib resource rlcompleter runpy sched
  secrets select selectors shelve shlex shutil signal site smtpd smtplib sndhdr socket socketserver
  spwd sqlite3 sre_compile sre_constants sre_parse ssl stat statistics string stringprep struct
  subprocess sunau symtable sys sysconfig syslog tabnanny tarfile telnetlib tempfile termios
  textwrap this threading time timeit tkinter token tokenize tomllib trace traceback tracemalloc
  tty turtle turtledemo types typing unicodedata unittest urllib uu uuid venv warnings wave weakref
  webbrowser winreg winsound wsgiref xdrlib xml xmlrpc zipapp zipfile zipimport zlib zoneinfo
  `.split(/\s+/),
)

/** Modules of the SDK, and of the reference package that the worker provides. */
const PROVIDED = new Set(['windlass', 'flux'])

/**
 * Namespace packages, to which several distributions contribute, so that the one with a module is unknown.
 */
const SHARED = new Set(
  'azure backports google jaraco mpl_toolkits opentelemetry ruamel sphinxcontrib zope'.split(' '),
)

/** Distributions of well-known modules whose names differ. */
const DISTRIBUTIONS = new Map(
  Object.entries({
    attr: ['attrs'],
    bs4: ['beautifulsoup4'],
    cv2: ['opencv-python', 'opencv-python-headless', 'opencv-contrib-python'],
    Crypto: ['pycryptodome'],
    dateutil: ['python-dateutil'],
    docx: ['python-docx'],
    dotenv: ['python-dotenv'],
    fitz: ['pymupdf'],
    git: ['gitpython'],
    jose: ['python-jose'],
    jwt: ['pyjwt'],
    kafka: ['kafka-python', 'kafka-python-ng'],
    ldap: ['python-ldap'],
    magic: ['python-magic'],
    multipart: ['python-multipart'],
    MySQLdb: ['mysqlclient'],
    nacl: ['pynacl'],
    OpenSSL: ['pyopenssl'],
    PIL: ['pillow'],
    pkg_resources: ['setuptools'],
    pptx: ['python-pptx'],
    psycopg2: ['psycopg2', 'psycopg2-binary'],
    serial: ['pyserial'],
    skimage: ['scikit-image'],
    sklearn: ['scikit-learn'],
    slugify: ['python-slugify'],
    socks: ['pysocks'],
    telegram: ['python-telegram-bot'],
    tensorflow: ['tensorflow', 'tensorflow-cpu'],
    usb: ['pyusb'],
    win32api: ['pywin32'],
    yaml: ['pyyaml'],
    zmq: ['pyzmq'],
  }),
)

/** Maximum number of modules of one upload that are compared with the packages of the workers. */
const MAX_MODULES = 50
const MODULE = /^[A-Za-z]\w*$/

/** Names of distributions by the top-level module that each may provide; any of them is enough. */
export type ImportedPackages = ReadonlyMap<string, readonly string[]>

/**
 * Returns the distributions that a source needs, from its dotted imports, except those of the standard
 * library, the SDK and modules whose distribution is unknown.
 */
export function importedPackages(imports: readonly string[]): ImportedPackages {
  const modules = new Set(imports.map((path) => path.split('.')[0] ?? ''))
  const needed = [...modules].filter(
    (name) => MODULE.test(name) && !STANDARD.has(name) && !PROVIDED.has(name) && !SHARED.has(name),
  )
  return new Map(
    needed.slice(0, MAX_MODULES).map((name) => [name, DISTRIBUTIONS.get(name) ?? [name]]),
  )
}
