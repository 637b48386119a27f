import { type Expression, pathsOf } from './python/expression.ts'

/**
 * True if an expression refers to `symbol` of the SDK (`cron`, `workflow.with_options`, …) under
 * any alias and through any submodule. Each of `modules` counts as the SDK.
 */
export const isSdkName = (expression: Expression, symbol: string, modules: string[]): boolean =>
  sdkPaths(expression, modules).some((path) => path === symbol || path.endsWith(`.${symbol}`))

/** Returns the SDK symbols that an expression may refer to, as paths inside the SDK. */
export const sdkPaths = (expression: Expression, modules: string[]): string[] =>
  pathsOf(expression).flatMap((path) => {
    const module = modules.find((name) => path.startsWith(`${name}.`))
    return module ? [path.slice(module.length + 1)] : []
  })
