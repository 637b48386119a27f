// Static analysis of uploaded Python
//
// Problem. A client uploads a Python file. The catalog must know which workflows the file defines,
// with which options, tasks, secrets and permissions, and which inputs they accept, before any
// worker runs it. Importing the file would answer all of that and would execute the code of an
// untrusted client on the server. So the file is only read: nothing of it is ever executed, and
// everything here is a function of its bytes (no I/O, clock or randomness; Biome checks it).
//
// Algorithm. Each step sees only sources that the step before has accepted:
//
//   bytes ──► decodeSource   text as a Python worker reads it: UTF-8 (PEP 263), \n line ends
//     │
//     ├─────► checkLayout    indentation, brackets, strings as CPython's tokenizer checks them;
//     │                      linear time, stack of at most 200 entries
//     ├─────► parser.parse   tree-sitter: a concrete syntax tree in WebAssembly memory
//     │
//     ├─────► checkTree      rejects what tree-sitter could not read
//     │
//     ├─────► checkCompile   rejects what Python parses and does not compile (compile/check-compile.ts)
//     │
//     ├─────► checkNames     rejects names that nothing in the source defines, assigns or imports
//     │
//     ├─────► outlineOf      scopes, bindings, definitions, imports; function bodies without a
//     │                      definition or import are read on first lookup
//     ├─────► findDeclaration   follows each decorator to the SDK, under any alias
//     │
//     └─────► per workflow:  options/   constants, resources, labels, routing, schedule
//                            CallGraph  tasks and nested workflows that the body can reach
//                            schema/    JSON Schema of T in `ctx: ExecutionContext[T]`
//
// Names. A name is resolved as Python's scoping rules resolve it, but over all paths at once: a
// binding in a branch, loop or handler does not hide the one before it, so a name has a list of
// candidates. An option needs exactly one candidate, and a constant one. A decorator needs one
// candidate that is the SDK, so that `try: from windlass … except ImportError: …` works.
//
// Call graph. A region of source (a body or a value) leads to every declaration whose name occurs
// in it as an identifier, called or not: tasks are often passed to `parallel` or kept in lists.
// `anything.name(…)` leads to every method of that name, since types of objects are unknown. Each
// region is read once and shared by all workflows, so the graph is linear in the source.
//
// Schemas. Types map to what pydantic itself would produce, compared over 83 types. A type that
// is unknown becomes `{}` with an entry in `schema_notes`, because a schema that rejects a valid
// input would block a run, while one that accepts too much leaves the check to the workflow.
//
// Guaranteed
//   * No byte of the source is executed, imported or passed to a shell.
//   * The result depends on the bytes and on `sdkModules` only; line ends, comments, blank lines
//     and a byte order mark change nothing but line numbers.
//   * A source that CPython cannot parse or compile is refused with line and column. The tests compare the
//     corpus, 200 sources that do not compile and 2,000 random token sequences with CPython itself;
//     compile/check-compile.ts says what is not covered.
//   * An option that the SDK does not have is refused with line and column: no worker could import
//     the source.
//   * A name that the source reads and binds nowhere is refused with line and column, unless the source
//     has an import of everything or binds names dynamically (`globals()`, `exec`, `sys.modules`), or the
//     name is in an annotation that is not evaluated. In 9,000 files of the standard library and of
//     installed packages, every name that was refused was one that CPython's symbol lists lack too.
//   * An option that is not a constant is refused where guessing would matter (names, secrets,
//     permissions, schedules). Secrets and permissions of reachable tasks are never understated
//     for code that names its tasks.
//   * Work is bounded: 200,000 evaluation steps, 64 levels of expressions, 24 aliases in a row,
//     1,000 workflows, 262,144 characters for each record and 16 MiB for all.
//
// Not guaranteed
//   * Syntax that the grammar of tree-sitter lacks is refused: defaults of type parameters (Python 3.13), a list
//     or tuple after the star of a target (`a, *(b, c) = d`), a slice in an annotation.
//   * Tasks found by `getattr`, `globals()`, `importlib` or strings are not in the call graph.
//   * The call graph over-approximates: a named task counts even if a condition excludes it.
//   * Type checking beyond the input schema, validators of models and generic type arguments.
//   * Time and memory are not limited here: the caller runs the analysis in a thread that it can
//     stop (services/catalog/src/analysis) with 2 s of processor time, 128 MiB of heap and 192 MiB
//     for the tree. A tree never shrinks that memory, so a thread is replaced above 96 MiB.
//
// Measurements (2 cores; bench/README.md has the current ones)
//   small source                      1 to 4 ms
//   1 MiB with 6,000 tasks            0.7 to 0.9 s, of which the layout scanner takes 40 ms
//   first source of a new thread      13 ms of processor time after a warm-up, 45 to 75 without
//   memory for the tree of 1 MiB      79 MiB
//
// Tried and dropped, or not chosen
//   * `ast` in a Python process: the exact grammar, but a second runtime inside the service.
//     CPython's parser is the reference in the tests instead (test/reference.py).
//   * The parser alone: tree-sitter recovers from wrong indentation, unbalanced brackets and a
//     `try` without handlers, so such files were accepted. Hence checkLayout, checkTree and checkCompile.
//   * Reading all function bodies at once: it took longer than parsing.
//   * The comparison of schemas without a depth limit: classes that all refer to one another
//     exhausted the stack. The proof stops 200 pairs deep and answers `unknown`.
//   * A query for every identifier to find names that nothing defines: it doubled the time of a source of
//     1 MiB. Now the layout scanner excludes most names, and one walk looks at the places of the others.
//   * Unknown names by scope: a name of another scope, of a branch or deleted may still be bound when the
//     code runs, and a refusal of a source that runs is worse than a failure in its first run.
//   * Real time as the limit: on a busy machine a source of ten lines was refused with 400 because
//     its thread had waited two seconds for a processor. The limit is processor time now.

import { checkCompile } from './compile/check-compile.ts'
import { type DeclaredWorkflow, readWorkflows } from './declared-workflows.ts'
import type { PythonParser } from './parser.ts'
import { checkLayout } from './python/check-layout.ts'
import { checkNames } from './python/check-names.ts'
import { checkTree } from './python/check-tree.ts'
import { decodeSource } from './python/decode-source.ts'

/** Returns the workflows of a source. Throws `invalid` if it is not Python or declares none. */
export function analyse(
  bytes: Uint8Array,
  parser: PythonParser,
  sdkModules: string[],
): DeclaredWorkflow[] {
  const source = decodeSource(bytes)
  const { names, tokens } = checkLayout(source)
  try {
    const root = parser.parse(source)
    checkTree(root, source)
    checkCompile(root, source, tokens)
    const settings = { sdkModules, parse: (text: string) => parseType(text, parser) }
    const workflows = readWorkflows(root, source, settings)
    checkNames(root, source, names)
    return workflows
  } finally {
    parser.release()
  }
}

/** Returns the tree of a type in quotes; undefined if the text is not one expression. */
function parseType(text: string, parser: PythonParser) {
  const root = parser.parse(text.trim())
  const [statement, ...others] = root.namedChildren
  const isOne = !root.hasError && statement?.type === 'expression_statement' && others.length === 0
  return isOne ? (statement.firstNamedChild ?? undefined) : undefined
}
