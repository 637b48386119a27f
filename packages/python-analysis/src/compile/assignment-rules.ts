import type { Node } from 'web-tree-sitter'
import type { CompileContext } from './compile-scope.ts'
import { describeExpression } from './describe-expression.ts'
import type { RuleHandlers, Visit } from './rule-walk.ts'
import { isParenthesized, partsOf } from './targets.ts'

/** Targets of assignments, loops, `with` and `del`. */
export function assignmentRules(context: CompileContext): RuleHandlers {
  const { refuse } = context
  const checkLeft = (visit: Visit) => {
    if (visit.type === 'list_splat_pattern')
      refuse(visit.at, 'starred assignment target must be in a list or tuple')
    if (PATTERN.test(visit.type)) checkStars(context, visit.node)
  }
  return {
    enter: {
      'assignment.left': checkLeft,
      'for_statement.left': checkLeft,
      'for_in_clause.left': checkLeft,
      delete_statement: ({ node }) => {
        for (const target of partsOf(node)) checkDeleted(context, target)
      },
      as_pattern: (visit) => checkAlias(context, visit),
      'except_clause.alias': (visit) => {
        if (visit.type !== 'identifier') refuse(visit.at, 'invalid syntax')
      },
    },
  }
}

const PATTERN = /^(pattern_list|tuple_pattern|list_pattern|tuple|list)$/

/** A pattern takes one starred target. */
function checkStars(context: CompileContext, pattern: Node): void {
  if (!PATTERN.test(pattern.type)) return
  const parts = partsOf(pattern)
  const [first, second] = parts.filter(({ type }) => /^list_splat/.test(type))
  if (first && isParenthesized(pattern))
    context.refuse(first.startIndex, 'cannot use starred expression here')
  if (second) context.refuse(second.startIndex, 'multiple starred expressions in assignment')
  for (const part of parts) checkStars(context, part)
}

function checkDeleted(context: CompileContext, target: Node): void {
  const { type } = target
  if (/^(expression_list|tuple|list|parenthesized_expression)$/.test(type)) {
    for (const part of partsOf(target)) checkDeleted(context, part)
  } else if (!/^(identifier|attribute|subscript|comment)$/.test(type))
    context.refuse(target.startIndex, `cannot delete ${describeExpression(target)}`)
}

/** Checks `value as target`, which the grammar takes for an expression. */
function checkAlias(context: CompileContext, visit: Visit): void {
  const { node, parent, at } = visit
  if (parent === 'case_pattern') return
  const alias = node.childForFieldName('alias')?.firstNamedChild
  if (!alias) return
  if (parent === 'except_clause') {
    if (alias.type !== 'identifier') context.refuse(alias.startIndex, 'invalid syntax')
  } else if (isInWith(visit)) checkAssigned(context, alias)
  else context.refuse(at, 'invalid syntax')
}

/** True for an item of `with`, also in `with (a as b, c as d)`. */
function isInWith(visit: Visit): boolean {
  const isInBrackets = /^(tuple|parenthesized_expression)$/.test(visit.parent)
  return (isInBrackets ? visit.typeAround(2) : visit.parent) === 'with_item'
}

/** Checks that an expression can be assigned to. */
function checkAssigned(context: CompileContext, target: Node): void {
  const { type } = target
  if (/^(expression_list|tuple|list|parenthesized_expression|list_splat)$/.test(type)) {
    for (const part of partsOf(target)) checkAssigned(context, part)
    checkStars(context, target)
  } else if (!/^(identifier|attribute|subscript|comment)$/.test(type))
    context.refuse(target.startIndex, `cannot assign to ${describeExpression(target)}`)
}
