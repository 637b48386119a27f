import type { CompileContext } from './compile-scope.ts'
import type { RuleHandlers, Visit } from './rule-walk.ts'

/** Places of starred expressions. */
export function starredRules(context: CompileContext): RuleHandlers {
  /** Depths of the tuples and statements around the current node that have a starred part. */
  const withStarred = new Set<number>()
  const leave = (visit: Visit) => {
    if (withStarred.size > 0 && withStarred.delete(visit.depth)) checkAlone(context, visit)
  }
  return {
    enter: {
      list_splat: (visit) => {
        withStarred.add(checkStarred(context, visit))
      },
      tuple: (visit) => {
        withStarred.delete(visit.depth)
      },
      expression_statement: (visit) => {
        withStarred.delete(visit.depth)
      },
    },
    leave: { tuple: leave, expression_statement: leave },
  }
}

const TAKES_STARRED = new Set(
  `argument_list list set tuple expression_list subscript pattern_list type match_statement list_splat_pattern
  list_pattern tuple_pattern expression_statement print_statement`.split(/\s+/),
)

/** Expressions that begin with one of their parts. */
const BEGINS_WITH_PART =
  /^(call|attribute|subscript|binary_operator|comparison_operator|boolean_operator)$/

/** Checks the place of `*value`, and returns the depth of the node that it is a part of. */
function checkStarred({ refuse }: CompileContext, visit: Visit): number {
  const { parent, at } = visit
  let around = 1
  if (parent !== 'subscript' && BEGINS_WITH_PART.test(parent) && visit.node.previousSibling)
    refuse(at, 'invalid syntax')
  // The grammar takes `*a.b()` for the call of an attribute of `*a`.
  while (!TAKES_STARRED.has(parent) && BEGINS_WITH_PART.test(visit.typeAround(around))) around++
  const type = visit.typeAround(around)
  if (TAKES_STARRED.has(type)) return visit.depth - around
  if (/_comprehension$|^generator_expression$/.test(type))
    refuse(at, 'iterable unpacking cannot be used in comprehension')
  const isParenthesized = type === 'parenthesized_expression'
  return refuse(at, `${isParenthesized ? 'cannot' : "can't"} use starred expression here`)
}

/** Checks that a tuple or statement with a starred part is a tuple, with a comma. */
function checkAlone({ refuse }: CompileContext, { node, at }: Visit): void {
  if (node.children.some(({ type }) => type === ',' || type.endsWith('assignment'))) return
  const what = node.type === 'tuple' ? 'cannot' : "can't"
  refuse(at, `${what} use starred expression here`)
}
