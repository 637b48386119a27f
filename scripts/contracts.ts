import { readFileSync, writeFileSync } from 'node:fs'
import { accessTable } from '../services/gateway/src/route/access-table.ts'
import { openapi } from '../services/gateway/src/route/openapi.ts'
import { routes } from '../services/gateway/src/routes/index.ts'
import { metricsTable } from './metrics-table.ts'
import { alertRulesFile } from './monitoring/alert-rules.ts'
import { dashboardFiles } from './monitoring/dashboard-files.ts'
import { rpcTable } from './rpc-table.ts'

/** Files that are generated from declarations in the code: `--check` fails when one is outdated. */
const files: Record<string, string> = {
  'docs/openapi.json': `${JSON.stringify(openapi(routes), undefined, 2)}\n`,
  'docs/access.md': accessTable(routes),
  'docs/rpcs.md': rpcTable(),
  'docs/metrics.md': metricsTable(),
  ...dashboardFiles(),
  'deploy/monitoring/rules.yml': alertRulesFile(),
}

const root = new URL('../', import.meta.url)
const isCheck = process.argv.includes('--check')

for (const [path, text] of Object.entries(files)) {
  const url = new URL(path, root)
  if (!isCheck) writeFileSync(url, text)
  else if (readFileSync(url, 'utf8') !== text) {
    console.error(`${path} is out of date: run npm run contracts`)
    process.exitCode = 1
  }
}
