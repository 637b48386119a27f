import type { Node } from 'web-tree-sitter'
import type { Declaration } from './declaration.ts'
import { argumentsOf } from './python/arguments.ts'
import type { Budget } from './python/budget.ts'
import type { Outline } from './python/outline.ts'
import { AT_END, type Definition, findBindings, type Scope } from './python/scope.ts'

/** Declarations that a workflow can run, besides its own body. */
export interface Reachable {
  tasks: Declaration[]
  /** Workflows of the same source that it names. Whatever those reach belongs to them. */
  nested: Declaration[]
}

export interface CallGraphInput {
  outline: Outline
  budget: Budget
  declarations: Map<Definition, Declaration>
}

/** Stretch of source that runs, with the scope in which its names are looked up. */
interface Region {
  node: Node
  scope: Scope
}

/** Occurrence of a name in a region. */
interface Word {
  region: Region
  name: string
  start: number
  end: number
}

const WORD = /[\p{L}_][\p{L}\p{N}\p{M}_]*/gu
/** `name=…`: a keyword argument or the target of an assignment, not a use. */
const ASSIGNMENT = /\s*=(?!=)/y
const CALL = /\s*\(/y
const WITH_OPTIONS = /\s*\.\s*with_options\s*\(/y

/** Targets of one name in a region. */
interface Edge {
  declarations: Declaration[]
  regions: Region[]
}

/** Call graph of a source. Each region is read once, however many workflows share it. */
export class CallGraph {
  readonly #input: CallGraphInput
  readonly #definitions = new Map<Definition, Edge>()
  /** Possible targets of `anything.name(…)`, by method name: the type of the object is unknown. */
  readonly #methods = new Map<string, Edge>()
  readonly #edges = new Map<string, Edge[]>()

  constructor(program: CallGraphInput) {
    this.#input = program
    for (const definition of program.outline.definitions) {
      const edge = edgeTo(definition, program.declarations.get(definition))
      this.#definitions.set(definition, edge)
      const isTask = edge.declarations[0]?.kind === 'task'
      if (isTask || definition.scope.kind === 'class') this.#addMethod(definition.name, edge)
    }
  }

  /**
   * Follows the names in a workflow's body to the tasks of the source, through functions, classes
   * and values at any depth: called, passed as arguments, or stored in a list to be called later.
   */
  findReachable(workflow: Declaration): Reachable {
    const reached = new Set<Declaration>()
    const edges = new Set<Edge>()
    const regions = new Map<string, Region>()
    const start = regionOf(workflow.definition)
    regions.set(keyOf(start), start)
    // The map grows during the iteration: added regions are visited too.
    for (const region of regions.values()) {
      for (const edge of this.#edgesOf(region)) {
        if (edges.has(edge)) continue
        edges.add(edge)
        for (const declaration of edge.declarations) reached.add(declaration)
        for (const next of edge.regions) regions.set(keyOf(next), next)
      }
    }
    reached.delete(workflow)
    const all = [...reached]
    return {
      tasks: all.filter(({ kind }) => kind === 'task'),
      nested: all.filter(({ kind }) => kind === 'workflow'),
    }
  }

  #addMethod(name: string, { declarations, regions }: Edge): void {
    const namesakes = this.#methods.get(name) ?? { declarations: [], regions: [] }
    this.#methods.set(name, namesakes)
    namesakes.declarations.push(...declarations)
    namesakes.regions.push(...regions)
  }

  #edgesOf(region: Region): Edge[] {
    const known = this.#edges.get(keyOf(region))
    if (known) return known
    const edges = this.#readEdges(region)
    this.#edges.set(keyOf(region), edges)
    return edges
  }

  #readEdges(region: Region): Edge[] {
    const { source } = this.#input.outline
    const edges: Edge[] = []
    const done = new Set<string>()
    const { startIndex, endIndex } = region.node
    // The name in the head of a definition is not a use of it.
    WORD.lastIndex = region.node.childForFieldName('name')?.endIndex ?? startIndex
    for (
      let match = WORD.exec(source);
      match && match.index < endIndex;
      match = WORD.exec(source)
    ) {
      const [start, end] = [match.index, WORD.lastIndex]
      const attribute = source[start - 1] === '.'
      const name = match[0].normalize('NFKC')
      const key = attribute ? `.${name}` : name
      if (done.has(key)) continue
      const word = { region, name, start, end }
      const found = attribute ? this.#followAttribute(word) : this.#followName(word)
      if (found.isResolved) done.add(key)
      edges.push(...found.edges)
      WORD.lastIndex = end
    }
    return edges
  }

  #followAttribute(word: Word): WordEdges {
    const methods = this.#methods.get(word.name)
    if (!methods) return { edges: [], isResolved: true }
    const called = this.#isFollowedBy(CALL, word) && isIdentifier(word)
    return { edges: called ? [methods] : [], isResolved: called }
  }

  #followName(word: Word): WordEdges {
    const { scope } = word.region
    const bindings = findBindings(scope, word.name, AT_END)
    const leads = bindings.some(({ kind }) => kind === 'definition' || kind === 'value')
    if (!leads) return { edges: [], isResolved: true }
    if (this.#isFollowedBy(ASSIGNMENT, word) || !isIdentifier(word))
      return { edges: [], isResolved: false }
    const edges = bindings.flatMap((binding) => {
      if (binding.kind === 'definition') return [this.#edgeTo(binding.definition, word)]
      // A value bound in this scope is part of the region already.
      const elsewhere = binding.kind === 'value' && binding.scope !== scope
      const region = elsewhere ? { node: binding.value, scope: binding.scope } : undefined
      return region ? [{ declarations: [], regions: [region] }] : []
    })
    return { edges, isResolved: !this.#isFollowedBy(WITH_OPTIONS, word) }
  }

  #edgeTo(definition: Definition, word: Word): Edge {
    const edge = this.#definitions.get(definition) as Edge
    const [task] = edge.declarations
    if (task?.kind !== 'task' || !this.#isFollowedBy(WITH_OPTIONS, word)) return edge
    return { ...edge, declarations: [this.#variant(task, word)] }
  }

  /** `fetch.with_options(…)`: the task with some options replaced. */
  #variant(task: Declaration, { region, start }: Word): Declaration {
    let call = region.node.descendantForIndex(start, WITH_OPTIONS.lastIndex)
    while (call && call.type !== 'call') call = call.parent
    if (!call) return task
    const { budget } = this.#input
    const changed = argumentsOf({
      node: call,
      scope: region.scope,
      at: AT_END,
      hops: 0,
      budget,
    })
    const { positional, keywords, isIncomplete } = task.options
    const options = {
      positional,
      keywords: new Map([...keywords, ...changed.keywords]),
      isIncomplete: isIncomplete || changed.isIncomplete,
    }
    return { ...task, options }
  }

  #isFollowedBy(what: RegExp, { end }: Word): boolean {
    what.lastIndex = end
    return what.test(this.#input.outline.source)
  }
}

interface WordEdges {
  edges: Edge[]
  /** True if further occurrences of the name in the region add nothing. */
  isResolved: boolean
}

function edgeTo(definition: Definition, declaration: Declaration | undefined): Edge {
  const regions = declaration?.kind === 'workflow' ? [] : [regionOf(definition)]
  return { declarations: declaration ? [declaration] : [], regions }
}

const regionOf = ({ node, body }: Definition): Region => ({ node, scope: body })

const keyOf = ({ node }: Region) => `${node.startIndex}-${node.endIndex}`

/** True for a name of the program, false for a word in a string or a comment. */
function isIdentifier({ region, start, end }: Word): boolean {
  const node = region.node.descendantForIndex(start, end)
  return node?.type === 'identifier' && node.startIndex === start && node.endIndex === end
}
