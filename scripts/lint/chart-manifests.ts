import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { PROJECT } from '../bootstrap/data-dir.mjs'
import type { KubernetesTools } from '../kubernetes-tools.ts'
import { run } from '../setup/run.ts'

const HELM_FOLDER = path.join(PROJECT, 'deploy/helm')
export const CHART = path.join(HELM_FOLDER, 'windlass')
export const SCHEMAS = path.join(HELM_FOLDER, 'schemas/{{ .ResourceKind }}{{ .KindSuffix }}.json')
export const VALUE_SETS = readdirSync(path.join(CHART, 'value-sets')).map(
  (file) => path.parse(file).name,
)
export const VERSION = ['--kube-version', '1.32.0']
/** Limit of one command; each takes about a second. */
const LIMIT_MS = 120_000

export const valuesOf = (set: string) => ['--values', path.join(CHART, `value-sets/${set}.yaml`)]

/**
 * Checks the chart with each value set and prints a line for each; true if no problem is found. Without the
 * tools, whose reason is given instead, it prints one line that says so, and returns true.
 */
export async function checkChart(
  tools: KubernetesTools | string,
  print: (line: string) => void,
): Promise<boolean> {
  if (typeof tools === 'string') {
    print(`chart: SKIPPED, ${inOneLine(tools)}`)
    return true
  }
  let isGood = true
  for (const set of VALUE_SETS) {
    const problem = await findChartProblems(tools, set)
    print(
      `chart, value set ${set}: ${problem ?? 'helm lint, helm template and kubeconform passed'}`,
    )
    isGood &&= problem === undefined
  }
  return isGood
}

/** Runs helm lint, helm template and kubeconform; returns what the first one that fails prints. */
export async function findChartProblems(
  { helm, kubeconform }: KubernetesTools,
  set: string,
): Promise<string | undefined> {
  const folder = mkdtempSync(path.join(tmpdir(), 'windlass-chart-'))
  const values = [CHART, '--namespace', 'windlass', ...VERSION, ...valuesOf(set)]
  const options = { cwd: folder, limitMs: LIMIT_MS }
  try {
    await run(helm, ['lint', '--strict', ...values], options)
    await run(helm, ['template', 'windlass', ...values, '--output-dir', folder], options)
    await run(kubeconform, ['-strict', '-schema-location', SCHEMAS, folder], options)
    return undefined
  } catch (error) {
    return (error as Error).message
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** The first and the last line: the command, and its error. */
function inOneLine(text: string): string {
  const lines = text.split('\n').map((line) => line.trim())
  return [...new Set([lines[0], lines.at(-1)])].join(' ')
}
