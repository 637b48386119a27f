import { expect, test } from 'vitest'
import { DecryptionError, decrypt, type EncryptedValue, encrypt, importKey } from './cipher.ts'

const key = await importKey(new Uint8Array(40).fill(1))
const nonce = Uint8Array.from({ length: 12 }, (_, i) => i)
const sealed = (name: string, value: string) => encrypt(key, name, value, nonce)

test.each(['"a"', '""', '9007199254740993', '"geheim 世界 🔐 \\ud800"', `"${'x'.repeat(65_000)}"`])(
  'encryption and decryption: value %.30s is unchanged',
  async (value) => expect(await decrypt(key, 'a', await sealed('a', value))).toBe(value),
)

test('ciphertext: does not contain the value', async () => {
  const { ciphertext } = await sealed('a', '"canary"')
  expect(ciphertext).toHaveLength('"canary"'.length + 16)
  expect(Buffer.from(ciphertext).toString('latin1')).not.toContain('canary')
})

test('another name: decryption fails', async () => {
  const row = await sealed('a', '1')
  for (const name of ['b', 'A', 'a ', ''])
    await expect(decrypt(key, name, row)).rejects.toThrow(DecryptionError)
})

test('one flipped bit at any position: decryption fails', async () => {
  const row = await sealed('a', '"a value"')
  const flipped = (bytes: Uint8Array, bit: number) =>
    bytes.map((byte, i) => (i === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte))
  const rows: EncryptedValue[] = [
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
  for (const other of rows) await expect(decrypt(key, 'a', other)).rejects.toThrow(DecryptionError)
})

test('another key, even with the same id: decryption fails', async () => {
  const other = await importKey(new Uint8Array(40).fill(2))
  const row = await sealed('a', '1')
  expect(other.id).not.toBe(key.id)
  await expect(decrypt(other, 'a', row)).rejects.toThrow(key.id)
  await expect(decrypt({ ...other, id: key.id }, 'a', row)).rejects.toThrow(DecryptionError)
})
