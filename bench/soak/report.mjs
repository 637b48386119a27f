import { table } from '../lib/report.mjs'
import { machine } from '../lib/system.mjs'
import { processesOf, TABLES } from './columns.mjs'

/** The mean of the last third may exceed that of the second one by this factor. */
const MAX_GROWTH = 1.2
/** Smaller shares of the load are a different test. */
const MIN_LOAD = 0.9

/** Prints the means of the thirds, also as a table in Markdown, and sets the exit code. */
export function report(stored, { minutes, rate, executions }) {
  const third = Math.floor(stored.length / 3)
  const mean = (part, key) => part.reduce((sum, one) => sum + one[key], 0) / part.length
  const rows = [...TABLES, ...processesOf(stored[0])].map((key) => {
    const [second, last] = [stored.slice(third, 2 * third), stored.slice(2 * third)]
    const [before, after] = [mean(second, key), mean(last, key)]
    return {
      MiB: key.replace(/_mib$/, ''),
      first: stored[0][key],
      second_third: before,
      last_third: after,
      growth: after / before,
    }
  })
  table(rows)
  const { live, partitions, dropped } = stored.at(-1)
  const most = (key) => Math.max(...stored.map((one) => one[key]))
  const load = executions / (minutes * 60)
  const figures = {
    ...{ minutes, executions, load, live, partitions, dropped },
    ...{ most_dead: most('dead'), incomplete: most('incomplete') },
  }
  process.stdout.write(`\n${markdown(rows)}\n`)
  process.stdout.write(
    `\n${JSON.stringify({ bench: 'soak', machine: machine(), rate, ...figures, rows })}\n`,
  )
  const growing = rows.filter(({ growth }) => growth > MAX_GROWTH).map(({ MiB }) => MiB)
  const failures = [
    ...(growing.length > 0 ? [`not steady: ${growing.join(', ')}`] : []),
    ...(figures.dropped === 0
      ? ['no partition was dropped: the run or KEPT_SECONDS is too short']
      : []),
    ...(figures.incomplete > 0
      ? [`ended executions without their whole log or lines: ${figures.incomplete}`]
      : []),
    ...(load < MIN_LOAD * rate
      ? [`${load.toFixed(1)} of ${rate} executions/s: choose a smaller RATE`]
      : []),
  ]
  for (const failure of failures) process.stderr.write(`${failure}\n`)
  if (failures.length > 0) process.exitCode = 1
}

function markdown(rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`
  const one = (value) => (value < 20 ? value.toFixed(1) : String(Math.round(value)))
  return [
    line(['', 'first sample', 'second third', 'last third']),
    line(['---', '---', '---', '---']),
    ...rows.map(({ MiB, first, second_third, last_third }) =>
      line([MiB, one(first), one(second_third), one(last_third)]),
    ),
  ].join('\n')
}
