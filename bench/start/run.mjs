// Rate of asynchronous starts of hello-world, without workers.
//   npm run bench -- start            (SECONDS=10 a point, IN_FLIGHT=1,8,64,256, SINGLE=1)
import { Client } from '../lib/http.mjs'
import { closedLoop } from '../lib/load.mjs'
import { measure, printFigures } from '../lib/measure.mjs'
import { machine, withSystem } from '../lib/system.mjs'
import { upload } from '../lib/workflows.mjs'

const SECONDS = Number(process.env.SECONDS ?? 10)
const IN_FLIGHT = (process.env.IN_FLIGHT ?? '1,8,64,256').split(',').map(Number)

const points = await withSystem({ workers: 0 }, async ({ url, pids }) => {
  const client = new Client(url)
  await upload(url, 'hello_world')
  const submit = async () => {
    const path = '/workflows/default/hello_world/run/async'
    const { status, text } = await client.request('POST', path, { body: '"World"' })
    if (status !== 200) throw new Error(`${status} ${text}`)
  }
  await closedLoop(submit, { inFlight: 16, seconds: 3 })
  const measured = []
  for (const inFlight of IN_FLIGHT)
    measured.push({
      in_flight: inFlight,
      ...(await measure(pids, () => closedLoop(submit, { inFlight, seconds: SECONDS }))),
    })
  client.close()
  return measured
})

printFigures(points)
process.stdout.write(`\n${JSON.stringify({ bench: 'start', machine: machine(), points })}\n`)
