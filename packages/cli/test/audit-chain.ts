import { type ChainedEntry, GENESIS, hashEntry } from '@windlass/domain/audit'

/** Creates a chain of this many entries. */
export function chain(length: number): ChainedEntry[] {
  const entries: ChainedEntry[] = []
  for (let seq = 1; seq <= length; seq++) {
    const previous_hash = entries.at(-1)?.hash ?? GENESIS
    const actor = { subject: 'ann', issuer: 'svc', key_prefix: 'wk_1' }
    const change = { action: 'role.update', object: 'role:x', outcome: 'done' }
    const at = '2026-01-02T03:04:05.678Z'
    // Text that no JSON library would write.
    const entry = { seq, at, ...actor, ...change, request_id: 'r', detail_json: '{"n": 1.0}' }
    entries.push({ ...entry, previous_hash, hash: hashEntry(previous_hash, entry) })
  }
  return entries
}

const hex = (bytes: Buffer) => `"${bytes.toString('hex')}"`

/** An entry as the server sends it. */
export const viewOf = (entry: ChainedEntry) =>
  `{"seq":${entry.seq},"at":"${entry.at}","actor":{"subject":"${entry.subject}","issuer":"svc"` +
  `,"key_prefix":"wk_1"},"request_id":"r","action":"role.update","object":"role:x"` +
  `,"outcome":"done","detail":${entry.detail_json},"previous_hash":${hex(entry.previous_hash)}` +
  `,"hash":${hex(entry.hash)}}`

export const headOf = (entries: ChainedEntry[]) => {
  const { seq, hash } = entries.at(-1) ?? { seq: 0, hash: GENESIS }
  return { seq, hash: hash.toString('hex') }
}
