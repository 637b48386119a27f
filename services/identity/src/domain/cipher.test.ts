import { expect, test } from 'vitest'
import { keyOf, type Sealed, seal, Unreadable, unseal } from './cipher.ts'

const key = await keyOf(new Uint8Array(40).fill(1))
const nonce = Uint8Array.from({ length: 12 }, (_, i) => i)
const sealed = (name: string, value: string) => seal(key, { name, value }, nonce)

test.each(['"a"', '""', '9007199254740993', '"geheim 世界 🔐 \\ud800"', `"${'x'.repeat(65_000)}"`])(
  'a value comes back to the character: %.30s',
  async (value) => expect(await unseal(key, 'a', await sealed('a', value))).toBe(value),
)

test('what is stored does not show the value', async () => {
  const { ciphertext } = await sealed('a', '"canary"')
  expect(ciphertext).toHaveLength('"canary"'.length + 16)
  expect(Buffer.from(ciphertext).toString('latin1')).not.toContain('canary')
})

test('a value opens under its own name alone', async () => {
  const row = await sealed('a', '1')
  for (const name of ['b', 'A', 'a ', ''])
    await expect(unseal(key, name, row)).rejects.toThrow(Unreadable)
})

test('one flipped bit anywhere makes it unreadable', async () => {
  const row = await sealed('a', '"a value"')
  const flipped = (bytes: Uint8Array, bit: number) =>
    bytes.map((byte, i) => (i === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte))
  const rows: Sealed[] = [
    ...Array.from({ length: row.ciphertext.length * 8 }, (_, bit) => ({
      ...row,
      ciphertext: flipped(row.ciphertext, bit),
    })),
    ...Array.from({ length: row.nonce.length * 8 }, (_, bit) => ({
      ...row,
      nonce: flipped(row.nonce, bit),
    })),
    { ...row, ciphertext: row.ciphertext.subarray(0, -1) },
    { ...row, ciphertext: new Uint8Array() },
  ]
  for (const other of rows) await expect(unseal(key, 'a', other)).rejects.toThrow(Unreadable)
})

test('another key does not open it, not even under the same id', async () => {
  const other = await keyOf(new Uint8Array(40).fill(2))
  const row = await sealed('a', '1')
  expect(other.id).not.toBe(key.id)
  await expect(unseal(other, 'a', row)).rejects.toThrow(key.id)
  await expect(unseal({ ...other, id: key.id }, 'a', row)).rejects.toThrow(Unreadable)
})
