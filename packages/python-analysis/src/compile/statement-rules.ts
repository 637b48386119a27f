import type { Node } from 'web-tree-sitter'
import type { CompileContext } from './compile-scope.ts'
import type { RuleHandlers } from './rule-walk.ts'
import { isExceptGroup, partsOf } from './targets.ts'

/** Shapes of statements that the grammar of the parser accepts and Python does not. */
export function statementRules(context: CompileContext): RuleHandlers {
  const { refuse, source } = context
  return {
    enter: {
      try_statement: ({ node }) => checkTry(context, node),
      print_statement: ({ node }) => checkPython2Statement(context, node),
      exec_statement: ({ node }) => checkPython2Statement(context, node),
      chevron: (visit) => {
        if (visit.parent !== 'print_statement') refuse(visit.at, 'invalid syntax')
      },
      raise_statement: ({ node }) => {
        const [list] = partsOf(node)
        if (list?.type === 'expression_list') refuse(list.startIndex, 'invalid syntax')
      },
      assert_statement: ({ node }) => {
        const third = partsOf(node)[2]
        if (third) refuse(third.startIndex, 'invalid syntax')
      },
      import_statement: ({ at, end }) => checkLastComma(context, at, end),
      import_from_statement: ({ at, end }) => checkLastComma(context, at, end),
      future_import_statement: ({ at, end }) => checkLastComma(context, at, end),
      ',': (visit) => {
        if (visit.parent === 'for_in_clause') refuse(visit.at, 'invalid syntax')
      },
      '<>': ({ at }) => refuse(at, 'invalid syntax'),
      named_expression: (visit) => {
        const isGuard = visit.parent === 'if_clause' && visit.typeAround(2) === 'case_clause'
        if (!TAKES_NAMED.has(visit.parent) && !isGuard)
          refuse(source.indexOf(':=', visit.at), 'invalid syntax')
      },
      concatenated_string: ({ node }) => {
        const [first, ...others] = partsOf(node)
        const other = others.find((part) => first && isBytes(part) !== isBytes(first))
        if (other) refuse(other.startIndex, 'cannot mix bytes and nonbytes literals')
      },
      lambda: (visit) => {
        const isInList = visit.parent === 'expression_list'
        if ((isInList ? visit.typeAround(2) : visit.parent) !== 'interpolation') return
        const reason = 'f-string: lambda expressions are not allowed without parentheses'
        refuse(visit.at, reason)
      },
      await: (visit) => {
        if (visit.parent === 'await') refuse(visit.at, 'invalid syntax')
      },
      unary_operator: (visit) => {
        if (visit.parent === 'await') refuse(visit.at, 'invalid syntax')
      },
      'assignment.type': ({ node }) => checkAnnotation(context, node),
      'function_definition.return_type': ({ node }) => checkAnnotation(context, node),
      'typed_default_parameter.type': ({ node }) => checkAnnotation(context, node),
      typed_parameter: ({ node }) => {
        const type = node.childForFieldName('type')
        if (type && node.firstNamedChild?.type !== 'list_splat_pattern')
          checkAnnotation(context, type)
      },
    },
  }
}

/** Nodes in which an assignment expression needs no brackets. */
const TAKES_NAMED = new Set(
  `parenthesized_expression if_statement elif_clause while_statement argument_list list set tuple subscript
  match_statement list_comprehension set_comprehension generator_expression decorator`.split(/\s+/),
)

const isBytes = ({ text }: Node): boolean => /^r?b/i.test(text.slice(0, 2))

/** Only the type of `*args` may be starred, and only a type parameter has a bound. */
function checkAnnotation({ refuse }: CompileContext, { firstNamedChild }: Node): void {
  if (/^(list_splat|splat_type|constrained_type)$/.test(firstNamedChild?.type ?? ''))
    refuse(firstNamedChild?.startIndex ?? 0, 'invalid syntax')
}

function checkPython2Statement({ refuse }: CompileContext, node: Node): void {
  // `print >> file, x` is a valid expression in Python 3.
  if (node.firstNamedChild?.type === 'chevron') return
  const name = node.type.slice(0, -'_statement'.length)
  refuse(node.startIndex, `missing parentheses in call to '${name}'`)
}

function checkLastComma({ source, refuse }: CompileContext, at: number, end: number): void {
  const comma = source.slice(at, end).trimEnd()
  if (comma.endsWith(','))
    refuse(at + comma.length - 1, 'trailing comma not allowed without surrounding parentheses')
}

/** Checks the handlers of a `try`. The grammar accepts one without handlers. */
function checkTry({ refuse }: CompileContext, node: Node): void {
  const clauses = node.namedChildren.filter(({ type }) => type.endsWith('_clause'))
  const handlers = clauses.filter(({ type }) => type === 'except_clause')
  const [first] = handlers
  if (!first && !clauses.some(({ type }) => type === 'finally_clause'))
    refuse(node.startIndex, "expected 'except' or 'finally' block")
  for (const handler of handlers) {
    const { startIndex: at } = handler
    const isGroup = isExceptGroup(handler)
    if (first && isGroup !== isExceptGroup(first))
      refuse(at, "cannot have both 'except' and 'except*' on the same 'try'")
    if (handler.childForFieldName('value')) continue
    if (isGroup) refuse(at, 'expected one or more exception types')
    if (handler !== handlers.at(-1)) refuse(at, "default 'except:' must be last")
  }
}
