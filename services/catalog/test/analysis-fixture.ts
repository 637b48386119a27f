import { createLog } from '@windlass/runtime/process/log'
import { bundleWorker } from '@windlass/testkit/bundle-worker'
import { onTestFinished } from 'vitest'
import { AnalysisPool, type AnalysisPoolOptions } from '../src/analysis/analysis-pool.ts'

export const workerUrl = await bundleWorker(
  new URL('../src/analysis/analysis.worker.ts', import.meta.url),
)

/** A pool with the memory limits of production, and no limits on time but those given. */
export function openPool(options: Partial<AnalysisPoolOptions> = {}): AnalysisPool {
  const limits = { maxCpuMs: 60_000, maxWallMs: 60_000, ...options }
  const log = createLog('test', 'silent')
  return new AnalysisPool({ sdkModules: ['windlass'], workerUrl, log, ...limits })
}

/** A pool that stops with the current test. */
export function startPool(options?: Partial<AnalysisPoolOptions>): AnalysisPool {
  const pool = openPool(options)
  onTestFinished(() => pool.stop())
  return pool
}
