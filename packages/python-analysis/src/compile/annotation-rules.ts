import type { CompileContext } from './compile-scope.ts'
import type { RuleHandlers, Visit } from './rule-walk.ts'
import { isParenthesized } from './targets.ts'

/** Assignments with an operator or an annotation: one target, and no other assignment as the value. */
export function annotationRules(context: CompileContext): RuleHandlers {
  const { refuse } = context
  /** A target that is a list or tuple, and that has not been followed by `=` yet. */
  let several: { what: string; at: number } | undefined
  /** True directly after an annotation, when only a value may follow. */
  let isAnnotated = false
  return {
    enter: {
      assignment: (visit) => {
        const isInside = visit.parent === 'assignment' && isAnnotated
        if (isInside || visit.parent === 'augmented_assignment') refuse(visit.at, 'invalid syntax')
        isAnnotated = false
      },
      'assignment.left': (visit) => {
        several = findSeveral(visit)
      },
      'assignment.type': (visit) => {
        if (visit.typeAround(2) === 'assignment') refuse(visit.at, 'invalid syntax')
        if (several) refuse(several.at, `only single target (not ${several.what}) can be annotated`)
        isAnnotated = true
      },
      augmented_assignment: (visit) => {
        if (visit.parent !== 'expression_statement') refuse(visit.at, 'invalid syntax')
      },
      'augmented_assignment.left': (visit) => {
        const target = findSeveral(visit)
        if (target)
          refuse(target.at, `'${target.what}' is an illegal expression for augmented assignment`)
      },
    },
  }
}

const PATTERN = /^(pattern_list|tuple_pattern|list_pattern|list_splat_pattern)$/

/** Returns the kind of a target that is a list or tuple. */
function findSeveral(visit: Visit): { what: string; at: number } | undefined {
  if (!PATTERN.test(visit.type) || isParenthesized(visit.node)) return undefined
  return { what: visit.type === 'list_pattern' ? 'list' : 'tuple', at: visit.at }
}
