// Does the time of a refusal reveal which part of a credential is correct? Sequential requests of several
// kinds in random order, compared by their medians and by Welch's t.
//   npm run bench -- timing            (COUNT=20000 of each kind)
import { randomBytes, randomInt } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { adminKey, environmentOf } from '../lib/admin.mjs'
import { Client } from '../lib/http.mjs'
import { percentile } from '../lib/load.mjs'
import { table } from '../lib/report.mjs'
import { machine, withSystem } from '../lib/system.mjs'

const COUNT = Number(process.env.COUNT ?? 20_000)
const WARM = 500
/** Share of the fastest requests that is kept: the slowest ones are interruptions of the machine. */
const KEPT = 0.9

Object.assign(process.env, {
  SVC_SECURITY__AUTH__ENABLED: 'true',
  SVC_SECURITY__EXECUTION_TOKEN_SECRET: randomBytes(32).toString('hex'),
  SVC_SECURITY__ENCRYPTION__ENCRYPTION_KEY: randomBytes(32).toString('hex'),
  SVC_WORKERS__REGISTER_RATE_LIMIT: '',
})

const points = await withSystem({ workers: 0 }, async ({ url, pids, home }) => {
  const key = await adminKey(environmentOf(pids.identity))
  const bootstrap = readFileSync(path.join(home, 'bootstrap-token'), 'utf8').trim()
  const client = new Client(url, 1)
  const use = (token) => () =>
    client.request('GET', '/workflows', { headers: { authorization: `Bearer ${token}` } })
  const register = (token) => () =>
    client.request('POST', '/workers/register', {
      body: '{}',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    })
  const secretAt = key.indexOf('.') + 1
  const found = [
    ...(await compared(401, {
      'key: unknown prefix': use(`wk_${'0'.repeat(16)}${key.slice(secretAt - 1)}`),
      'key: first character wrong': use(wrongAt(key, secretAt)),
      'key: last character wrong': use(wrongAt(key, key.length - 1)),
    })),
    ...(await compared(403, {
      'bootstrap: first character wrong': register(wrongAt(bootstrap, 0)),
      'bootstrap: last character wrong': register(wrongAt(bootstrap, bootstrap.length - 1)),
      'bootstrap: half as long': register(bootstrap.slice(bootstrap.length / 2)),
    })),
  ]
  client.close()
  return found
})

table(points)
process.stdout.write(`\n${JSON.stringify({ bench: 'timing', machine: machine(), points })}\n`)

/** Measures the times of each kind, and the difference of each to the first. */
async function compared(status, kinds) {
  const requests = Object.values(kinds)
  const times = requests.map(() => [])
  for (let i = 0; i < (COUNT + WARM) * requests.length; i++) {
    const kind = randomInt(requests.length)
    const begun = process.hrtime.bigint()
    const answer = await requests[kind]()
    const took = Number(process.hrtime.bigint() - begun) / 1_000
    if (answer.status !== status) throw new Error(`${answer.status}: ${answer.text}`)
    if (i >= WARM * requests.length) times[kind].push(took)
  }
  const kept = times.map((all) => {
    all.sort((a, b) => a - b)
    return all.slice(0, Math.floor(all.length * KEPT))
  })
  return Object.keys(kinds).map((kind, i) => ({
    kind,
    count: times[i].length,
    'p50, µs': percentile(kept[i], 50),
    'median difference, µs': percentile(kept[i], 50) - percentile(kept[0], 50),
    'Welch t': i === 0 ? 0 : welch(kept[i], kept[0]),
  }))
}

function welch(a, b) {
  const [one, other] = [a, b].map((all) => {
    const mean = all.reduce((sum, x) => sum + x, 0) / all.length
    const variance = all.reduce((sum, x) => sum + (x - mean) ** 2, 0) / (all.length - 1)
    return { mean, error: variance / all.length }
  })
  return (one.mean - other.mean) / Math.sqrt(one.error + other.error)
}

/** Changes the character at `at`. */
function wrongAt(text, at) {
  return `${text.slice(0, at)}${text[at] === 'A' ? 'B' : 'A'}${text.slice(at + 1)}`
}
