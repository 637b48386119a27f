import { type Expression, pathsOf } from './python/expression.ts'

/**
 * Whether an expression is this part of the SDK, under whatever name and out of whichever module of
 * it: `symbol` is `cron`, `workflow.with_options`, … Any of `modules` counts as the SDK.
 */
export const isSdkName = (expression: Expression, symbol: string, modules: string[]): boolean =>
  sdkPaths(expression, modules).some((path) => path === symbol || path.endsWith(`.${symbol}`))

/** The parts of the SDK that an expression may be, as paths inside of it. */
export const sdkPaths = (expression: Expression, modules: string[]): string[] =>
  pathsOf(expression).flatMap((path) => {
    const module = modules.find((name) => path.startsWith(`${name}.`))
    return module ? [path.slice(module.length + 1)] : []
  })
