import { entryNameOf, NAME_PATTERNS } from '@windlass/domain/names'
import type {
  Entry,
  ListEntriesResponse,
  PutEntryRequest,
  PutEntryResponse,
} from '@windlass/proto/windlass/identity/v1/secrets'
import { Fault } from '@windlass/runtime/faults'
import { z } from 'zod'
import { type Caller, onBehalfOf } from '../access/caller.ts'
import type { Clients } from '../clients/connect.ts'
import { orUpgrade } from '../clients/or-upgrade.ts'
import { detailsOf, readNames } from '../domain/entries.ts'
import { JsonText } from '../domain/views.ts'
import type { RequestContext } from '../http/request-context.ts'
import { json, jsonSlices } from '../route/body.ts'
import { flag, type Param } from '../route/fields.ts'
import { readPrecondition, sendRevision } from './preconditions.ts'

/** Thirty days. */
const MAX_KEEP_PREVIOUS_S = 2_592_000

/** A name in a path; one that does not match the grammar is not found. */
export const entryName: Param = {
  schema: z.string().meta({ wire: { type: 'string', pattern: NAME_PATTERNS.label } }),
  read(text) {
    const name = entryNameOf(text)
    if (name === undefined) throw new Fault('not_found', 'Not Found')
    return name
  },
}

const isValue = (value: unknown) => value instanceof JsonText && value.text !== 'null'

/** Names in which `*` stands for any characters; null: every name. */
const patterns = z.array(z.string().min(1).max(128)).max(100).nullable()

const entryMembers = {
  name: z
    .string()
    .refine(
      (name) => entryNameOf(name) !== undefined,
      'must be 1 to 255 printable characters without /',
    )
    .meta({ wire: { type: 'string', pattern: NAME_PATTERNS.label } })
    .transform((name) => name.normalize('NFC')),
  value: z
    .unknown()
    .refine(isValue, 'must be there and not null')
    .transform((value) => value as JsonText),
  /** The namespaces and workflows that may use it; absent: unchanged. */
  namespaces: patterns.optional(),
  workflows: patterns.optional(),
}

/** Body that creates or replaces a config. The value stays text. */
export const newConfig = json(z.object(entryMembers).meta({ id: 'NewEntry' }), {
  payloads: ['value'],
})

/** The same for a secret. */
export const newSecret = json(
  z
    .object({
      ...entryMembers,
      /** Seconds for which the present value stays readable as the previous one. */
      keep_previous: z.int().min(0).max(MAX_KEEP_PREVIOUS_S).optional(),
    })
    .meta({ id: 'NewSecret' }),
  { payloads: ['value'] },
)

interface EntryBody {
  name: string
  value: JsonText
  namespaces?: string[] | null | undefined
  workflows?: string[] | null | undefined
}

/** The entry of a body, for identity. */
export const toEntry = ({ name, value, namespaces, workflows }: EntryBody): Entry => ({
  ...{ name, value_json: value.text },
  ...(namespaces !== undefined && { namespaces: toPatterns(namespaces) }),
  ...(workflows !== undefined && { workflows: toPatterns(workflows) }),
})

const toPatterns = (items: string[] | null) => ({ items: items ?? [], all: items === null })

/** Adds patterns, version and revision to answers in which clients of the original contract do not expect them. */
export const detailedQuery = { detailed: flag.default(false) }

/** Version of secrets that is read. */
export const secretVersion = z.enum(['current', 'previous']).optional()

export const isPrevious = ({ version }: { version?: string | undefined }) => version === 'previous'

const Details = {
  namespaces: z.array(z.string()).nullable().optional(),
  workflows: z.array(z.string()).nullable().optional(),
  version: z.int().optional(),
  previous_until: z.string().nullable().optional(),
  revision: z.string().optional(),
}

/** Names, or with `?detailed=true` the entries without their values. */
export const EntryList = z.union([
  z.array(z.string()),
  z.array(z.object({ name: z.string(), ...Details }).meta({ id: 'EntryDetails' })),
])

/** Answers a list of entries. */
export const listEntries = (
  { names, entries }: ListEntriesResponse,
  { detailed }: { detailed: boolean },
): z.input<typeof EntryList> =>
  detailed ? entries.map((entry) => ({ name: entry.name, ...detailsOf(entry, true) })) : names

interface PutOptions {
  caller: Caller
  ctx: RequestContext
}

/** Puts an entry, if its request has a precondition only if that is met, and sends the new revision. */
export async function putEntry(
  client: Pick<Clients['configs'], 'put' | 'putIf'>,
  put: PutEntryRequest,
  { caller, ctx }: PutOptions,
): Promise<PutEntryResponse> {
  const by = onBehalfOf(ctx, caller)
  const precondition = readPrecondition(ctx)
  const saved = await (precondition
    ? orUpgrade(client.putIf({ put, precondition }, by), 'identity')
    : client.put(put, by))
  sendRevision(ctx, saved.entry?.revision)
  return saved
}

/** Answer to a Put. */
export const SavedEntry = z
  .object({ status: z.literal('success'), message: z.string(), ...Details })
  .meta({ id: 'SavedEntry' })

export const savedEntry = (
  what: 'Secret' | 'Config',
  name: string,
  { entry }: PutEntryResponse,
): z.input<typeof SavedEntry> => ({
  ...{ status: 'success', message: `${what} '${name}' saved successfully` },
  ...(entry && detailsOf(entry, false)),
})

export const names = jsonSlices(z.array(z.string()).max(100), readNames)

export const EntryView = z
  .object({ name: z.string(), value: z.unknown(), ...Details })
  .meta({ id: 'Entry' })

export const Values = z.record(z.string(), z.unknown()).meta({ id: 'Values' })

/** Forbids caches to store the response. */
export const unkept = ({ responseHeaders }: RequestContext) =>
  responseHeaders.push('cache-control', 'no-store')
