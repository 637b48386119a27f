/**
 * Signed checkpoints of the audit chain, without the cryptography of Node, so that a browser can verify them too.
 *
 * A checkpoint is a JWS in its compact form (RFC 7515) under Ed25519 (RFC 8037). Its payload is a `Checkpoint`, and its
 * header names the key by the SHA-256 thumbprint of the public key (RFC 7638), so a noted id identifies the key.
 */
/** `interval`: the newest entry at that time; `prune`: the entries up to it were deleted. */
export const CHECKPOINT_REASONS = ['interval', 'prune'] as const

/** The hash covers every entry up to `seq`. */
export interface Checkpoint {
  seq: number
  /** Lower-case hexadecimal. */
  hash: string
  /** RFC 3339 in UTC, by the clock of the database. */
  at: string
  /** Entries that the log had up to `seq`: those since the last pruned one. */
  entries: number
  reason: (typeof CHECKPOINT_REASONS)[number]
}

/** A public key as the API sends it. */
export interface CheckpointKey {
  kid: string
  /** The 32 bytes of the key as base64url. */
  x: string
  /** True if identity has the private part. */
  confirmed: boolean
}

/** Checkpoints as the API sends them, and the keys that it has for them. */
export interface CheckpointList {
  tokens: readonly string[]
  keys: readonly CheckpointKey[]
}

/** An answer of the route that lists checkpoints. */
export interface CheckpointPage {
  checkpoints: readonly { token: string }[]
  keys: readonly CheckpointKey[]
}

/** Reads all checkpoints, in pages of this size. */
export async function readCheckpointPages(
  size: number,
  readPage: (offset: number) => Promise<CheckpointPage>,
): Promise<CheckpointList> {
  const tokens: string[] = []
  for (;;) {
    const { checkpoints, keys } = await readPage(tokens.length)
    tokens.push(...checkpoints.map(({ token }) => token))
    if (checkpoints.length < size) return { tokens, keys }
  }
}

/** The cryptography of the place that verifies. */
export interface CheckpointCrypto {
  /** SHA-256 of a text as base64url. */
  digest(text: string): string | Promise<string>
  /** True if this signature (base64url) of the text was made with this key. */
  verify(x: string, text: string, signature: string): boolean | Promise<boolean>
}

/** Encodes bytes, each a character from 0 to 255, as base64url without padding. */
export const toBase64Url = (bytes: string): string =>
  btoa(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')

/** Decodes base64url to bytes, each a character from 0 to 255. Throws for any other text. */
export const fromBase64Url = (text: string): string =>
  atob(text.replaceAll('-', '+').replaceAll('_', '/'))

/** The only header that is signed or accepted, so a token cannot choose another algorithm. */
const headerOf = (kid: string) =>
  toBase64Url(JSON.stringify({ alg: 'EdDSA', typ: 'windlass-audit-checkpoint', kid }))

/** The text that is signed. Its form never changes. */
export function signingInput(kid: string, checkpoint: Checkpoint): string {
  const { seq, hash, at, entries, reason } = checkpoint
  return `${headerOf(kid)}.${toBase64Url(JSON.stringify({ seq, hash, at, entries, reason }))}`
}

/** The text whose digest is the id of a key. */
export const thumbprintInput = (x: string) => JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x })

/** A checkpoint whose signature has not been verified. */
interface ParsedCheckpoint extends Checkpoint {
  kid: string
  input: string
  signature: string
}

/** Parses a token; undefined for any other text. */
export function parseCheckpointToken(token: string): ParsedCheckpoint | undefined {
  const [, header = '', payload = '', signature = ''] =
    /^([\w-]+)\.([\w-]+)\.([\w-]+)$/.exec(token) ?? []
  try {
    const { kid } = JSON.parse(fromBase64Url(header)) as { kid: string }
    const checkpoint = JSON.parse(fromBase64Url(payload)) as Checkpoint
    const isOwn = header === headerOf(kid) && isCheckpoint(checkpoint)
    return isOwn ? { ...checkpoint, kid, input: `${header}.${payload}`, signature } : undefined
  } catch {
    return undefined
  }
}

const isCheckpoint = ({ seq, hash, at, entries, reason }: Checkpoint): boolean =>
  Number.isSafeInteger(seq) &&
  Number.isSafeInteger(entries) &&
  /^[0-9a-f]{64}$/.test(hash) &&
  !Number.isNaN(Date.parse(at)) &&
  CHECKPOINT_REASONS.includes(reason)

export interface VerifiedCheckpoints {
  /** Those with a signature of a trusted key. */
  checkpoints: Checkpoint[]
  /** Ids of their keys. */
  kids: string[]
  problems: string[]
}

/**
 * Verifies the signatures of checkpoints, not yet that the chain has their entries. Trusted are the noted keys; if none
 * is noted, those that identity confirms.
 */
export async function verifyCheckpoints(
  { tokens, keys }: CheckpointList,
  crypto: CheckpointCrypto,
  noted?: readonly string[],
): Promise<VerifiedCheckpoints> {
  const { known, problems } = await findKeys(keys, crypto)
  const valid: ParsedCheckpoint[] = []
  for (const [i, token] of tokens.entries()) {
    const parsed = parseCheckpointToken(token)
    if (!parsed) {
      problems.push(`checkpoint ${i + 1} of the list was changed: it cannot be parsed`)
      continue
    }
    const problem = await findProblem(parsed, { key: known.get(parsed.kid), crypto, noted })
    if (problem === undefined) valid.push(parsed)
    else problems.push(problem)
  }
  if (noted && valid.length === 0) problems.push('no checkpoint is signed with the noted key')
  return { checkpoints: valid, kids: [...new Set(valid.map(({ kid }) => kid))], problems }
}

/** The keys whose id is that of their public part. */
async function findKeys(keys: readonly CheckpointKey[], crypto: CheckpointCrypto) {
  const known = new Map<string, CheckpointKey>()
  const problems: string[] = []
  for (const key of keys)
    if ((await crypto.digest(thumbprintInput(key.x))) === key.kid) known.set(key.kid, key)
    else problems.push(`key ${key.kid} was changed: its id is not that of this key`)
  return { known, problems }
}

interface Trust {
  key: CheckpointKey | undefined
  crypto: CheckpointCrypto
  noted: readonly string[] | undefined
}

async function findProblem(
  { seq, kid, input, signature }: ParsedCheckpoint,
  { key, crypto, noted }: Trust,
): Promise<string | undefined> {
  const subject = `the checkpoint of entry ${seq}`
  if (!key) return `${subject} is signed with key ${kid}, which the log does not have`
  if (noted && !noted.includes(kid))
    return `${subject} is signed with key ${kid}, which is not the noted one`
  if (!noted && !key.confirmed)
    return `${subject} is signed with key ${kid}, whose private part identity does not have`
  if (!(await crypto.verify(key.x, input, signature)))
    return `${subject} was changed: its signature is not valid`
  return undefined
}

/** The last pruned entry; 0: none. Not verified: it says only whether entries were pruned meanwhile. */
export const lastPruned = ({ tokens }: CheckpointList): number =>
  tokens
    .map(parseCheckpointToken)
    .reduce((last, one) => Math.max(last, one?.reason === 'prune' ? one.seq : 0), 0)
