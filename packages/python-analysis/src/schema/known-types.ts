/** JSON Schema, draft 2020-12. */
export type Schema = { [keyword: string]: unknown }

/** Modules of the types below. The same name from another module is another type. */
const MODULES = new Set(
  (
    'builtins typing typing_extensions types collections datetime uuid decimal pathlib ipaddress ' +
    'enum re pydantic annotated_types'
  ).split(' '),
)

/** Returns the name of a known type, from any of its modules; undefined for other types. */
export function knownName(paths: string[]): string | undefined {
  const path = paths.find((path) => MODULES.has(path.split('.', 1)[0] ?? ''))
  return path?.slice(path.lastIndexOf('.') + 1)
}

const string = (format: string, more?: Schema): Schema => ({ type: 'string', format, ...more })
const url = (most: number) => string('uri', { minLength: 1, maxLength: most })

/** Strings that `Decimal("…")` accepts, except NaN and infinities. */
const DECIMAL_TEXT = String.raw`^\s*[+-]?(\d[\d_]*(\.[\d_]*)?|\.\d[\d_]*)([eE][+-]?\d+)?\s*$`
const DECIMAL: Schema = {
  anyOf: [{ type: 'number' }, { type: 'string', pattern: DECIMAL_TEXT }],
}

const SCALARS: Record<string, Schema> = {
  str: { type: 'string' },
  int: { type: 'integer' },
  float: { type: 'number' },
  bool: { type: 'boolean' },
  None: { type: 'null' },
  NoneType: { type: 'null' },
  Any: {},
  object: {},
  bytes: string('binary'),
  datetime: string('date-time'),
  AwareDatetime: string('date-time'),
  NaiveDatetime: string('date-time'),
  PastDatetime: string('date-time'),
  FutureDatetime: string('date-time'),
  date: string('date'),
  PastDate: string('date'),
  FutureDate: string('date'),
  time: string('time'),
  timedelta: string('duration'),
  Decimal: DECIMAL,
  Path: string('path'),
  PurePath: string('path'),
  PosixPath: string('path'),
  FilePath: string('file-path'),
  DirectoryPath: string('directory-path'),
  NewPath: string('path'),
  Pattern: string('regex'),
  IPv4Address: string('ipv4'),
  IPv6Address: string('ipv6'),
  EmailStr: string('email'),
  SecretStr: string('password', { writeOnly: true }),
  AnyUrl: string('uri', { minLength: 1 }),
  AnyHttpUrl: string('uri', { minLength: 1 }),
  HttpUrl: url(2083),
  StrictStr: { type: 'string' },
  StrictInt: { type: 'integer' },
  StrictFloat: { type: 'number' },
  StrictBool: { type: 'boolean' },
  PositiveInt: { type: 'integer', exclusiveMinimum: 0 },
  NonNegativeInt: { type: 'integer', minimum: 0 },
  NegativeInt: { type: 'integer', exclusiveMaximum: 0 },
  NonPositiveInt: { type: 'integer', maximum: 0 },
  PositiveFloat: { type: 'number', exclusiveMinimum: 0 },
  NonNegativeFloat: { type: 'number', minimum: 0 },
  NegativeFloat: { type: 'number', exclusiveMaximum: 0 },
  NonPositiveFloat: { type: 'number', maximum: 0 },
  FiniteFloat: { type: 'number' },
  ...Object.fromEntries(
    ['UUID', 'UUID1', 'UUID3', 'UUID4', 'UUID5'].map((name) => [name, string('uuid')]),
  ),
}

/** Returns the schema of a type without arguments. */
export const scalarSchema = (name: string): Schema | undefined =>
  Object.hasOwn(SCALARS, name) ? structuredClone(SCALARS[name]) : undefined

const words = (text: string) => new Set(text.split(' '))

export const LISTS = words(
  'list List Sequence MutableSequence Iterable Collection deque Deque conlist',
)
export const SETS = words('set Set frozenset FrozenSet AbstractSet MutableSet conset confrozenset')
export const TUPLES = words('tuple Tuple')
export const MAPPINGS = words(
  'dict Dict Mapping MutableMapping defaultdict DefaultDict OrderedDict',
)
/** Wrappers that qualify a field and leave its type unchanged. */
export const WRAPPERS = words('Final Required NotRequired ReadOnly InitVar ClassVar Strict')
/** Calls that create a constrained type, with the type they constrain. */
export const CONSTRAINED = new Map(
  Object.entries({
    constr: 'str',
    conint: 'int',
    confloat: 'float',
    condecimal: 'Decimal',
    conbytes: 'bytes',
    condate: 'date',
  }),
)
