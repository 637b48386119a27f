import { expect, it, vi } from 'vitest'
import { ensurePrograms, type Program } from '../setup/packages.ts'
import { Progress } from '../setup/progress.ts'

const absent = (name: string, ...apt: string[]): Program => ({ name, apt, found: () => false })

it('programs missing and no right to install: one error names all and the command', async () => {
  vi.stubEnv('PATH', '') // without apt-get
  const programs = [
    absent('NATS', 'nats-server'),
    { ...absent('Redis', 'redis-server'), found: () => true },
    absent('Python 3.11 or newer with venv', 'python3', 'python3-venv'),
  ]
  await expect(ensurePrograms(new Progress(), programs)).rejects.toThrow(
    /^NATS, Python 3\.11 or newer with venv not found.*\n.*apt-get install nats-server python3 python3-venv\n/,
  )
})

it('nothing missing: nothing is installed', async () => {
  vi.stubEnv('PATH', '')
  const there = { ...absent('NATS', 'nats-server'), found: async () => true }
  await expect(ensurePrograms(new Progress(), [there])).resolves.toBeUndefined()
})
