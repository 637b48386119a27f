// The Python worker and its SDK: throughput, CPU, memory, waiting and recovery. Prints a row for each figure.
//   npm run bench -- worker      (ROWS=sdk,pongs,throughput,waiting,kill; SECONDS=4 a turn; TURNS=3; SLEEPERS=5000)
import { table } from '../lib/report.mjs'
import { machine } from '../lib/system.mjs'
import { kill } from './kill.mjs'
import { script } from './scripts.mjs'
import { throughput } from './throughput.mjs'
import { waiting } from './waiting.mjs'

const parts = {
  sdk: () => script('sdk.py'),
  pongs: () => script('pongs.py'),
  throughput,
  waiting,
  kill,
}
const chosen = process.env.ROWS?.split(',') ?? Object.keys(parts)

const rows = []
for (const name of chosen) {
  const part = parts[name]
  if (!part) throw new Error(`ROWS: there is no ${name}; use ${Object.keys(parts).join(', ')}`)
  rows.push(...(await part()))
}
table(rows)
process.stdout.write(`\n${JSON.stringify({ bench: 'worker', machine: machine(), rows })}\n`)
