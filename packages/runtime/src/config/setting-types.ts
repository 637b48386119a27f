import { z } from 'zod'
import { expecting } from './expectations.ts'

/** Settings arrive typed from TOML and as text from the environment; each of these accepts both. */
export const flag = expecting('true or false', z.union([z.boolean(), z.stringbool()]))
export const number = z.union([
  z.number(),
  z
    .string()
    .regex(/^-?\d+(\.\d+)?$/, 'must be a number')
    .transform(Number),
])
export const seconds = expecting(
  'a number of seconds greater than 0',
  number.pipe(z.number().positive()),
)
export const count = expecting('a whole number from 0', number.pipe(z.int().nonnegative()))
export const port = expecting('a port from 0 to 65535', number.pipe(z.int().min(0).max(65_535)))
const texts = z.array(z.string())
/** True for text that looks like an array and not like an address such as `[::1]:20101`. */
const ARRAY = /^\s*\[\s*(?:["'\]]|$)/

/** A list in the form of the file, or separated by commas without brackets and quotes. */
export const list = z.union([texts, z.string()]).transform((given, context) => {
  if (typeof given !== 'string') return given
  if (!ARRAY.test(given)) return itemsOf(given)
  const array = texts.safeParse(parsed(given))
  if (array.success) return array.data
  context.addIssue('must be a JSON array of texts, or texts with commas between them')
  return z.NEVER
})

const itemsOf = (text: string) =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter(Boolean)

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export const rate = z
  .string()
  .regex(/^$|^[1-9]\d*\/(second|minute|hour)$/, 'must be like 30/minute, or empty for off')

/** `name`, `name:port`, an IPv4 address or an IPv6 address in brackets. */
const host = z
  .string()
  .regex(
    /^(\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(:\d{1,5})?$/i,
    'must be a host name with an optional port, without a scheme',
  )
export const hosts = list.pipe(z.array(host)).default([])

/** The address of a server: scheme, host, port, and the path below which it is served. */
export const address = z
  .string()
  .refine(
    isAddress,
    'must be a scheme, a host, an optional port and an optional path, like https://windlass.example',
  )

function isAddress(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, origin, pathname, search, hash } = new URL(text)
  const isPlain = /^(?:\/[\w.~-]+)*\/?$/.test(pathname) && search === '' && hash === ''
  const written = text.replace(/\/$/, '').toLowerCase()
  return (
    /^https?:$/.test(protocol) &&
    isPlain &&
    written === (origin + pathname.replace(/\/$/, '')).toLowerCase()
  )
}

/** Path of a file. */
export const file = z.string().min(1).optional()

export const MEBIBYTE = 1_048_576

/** A table of settings: every key has a default, and an unknown key is refused. */
export const table = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.strictObject(shape).prefault({} as never)
