import type { Workflow } from '@windlass/proto/windlass/catalog/v1/catalog'
import { invalid } from '@windlass/runtime/faults'
import type { Node } from 'web-tree-sitter'
import type { AnalysisContext } from './analysis-context.ts'
import { CallGraph } from './call-graph.ts'
import { type Declaration, findDeclaration } from './declaration.ts'
import { type Metadata, toMetadata, type WorkflowName } from './metadata.ts'
import { readAffinity } from './options/affinity.ts'
import { checkNamespace, checkWorkflowName, readNameOption } from './options/names.ts'
import { optionFault } from './options/option.ts'
import { checkOptionNames } from './options/option-names.ts'
import { type Options, optionsOf } from './options/options.ts'
import { readRequests, toRequirement } from './options/resources.ts'
import { Budget } from './python/budget.ts'
import { outlineOf } from './python/outline.ts'
import type { Definition } from './python/scope.ts'
import { type InputSchema, readInputSchema } from './schema/input-schema.ts'

/** Workflow as its source declares it. The catalog adds id, version and uploader. */
export type DeclaredWorkflow = Pick<
  Workflow,
  | 'namespace'
  | 'name'
  | 'imports'
  | 'metadata_json'
  | 'requests_json'
  | 'affinity_json'
  | 'input_schema_json'
> & { requirement: NonNullable<Workflow['requirement']> }

/** Context that is the same for every source of a service. */
export type AnalysisOptions = Omit<AnalysisContext, 'budget'>

interface NamedDeclaration {
  declaration: Declaration
  options: Options
  name: WorkflowName
}

const DEFAULT_NAMESPACE = 'default'
const MAX_WORKFLOWS = 1_000
const MAX_RECORD_CHARS = 262_144
const MAX_ALL_CHARS = 16_777_216

/**
 * Returns the workflows that a source declares, in source order. Throws `invalid` for a source
 * without a workflow, for a duplicate name, and for an option that is not a constant or out of
 * bounds.
 */
export function readWorkflows(
  root: Node,
  source: string,
  settings: AnalysisOptions,
): DeclaredWorkflow[] {
  const context = { ...settings, budget: new Budget() }
  const outline = outlineOf(root, source)
  const declarations = new Map<Definition, Declaration>()
  for (const definition of outline.definitions) {
    const declaration = findDeclaration(definition, context)
    if (!declaration) continue
    // Also those of tasks that no workflow reaches: they keep a worker from importing the source.
    checkOptionNames(declaration)
    declarations.set(definition, declaration)
  }
  const workflows = nameDeclarations([...declarations.values()])
  const names = new Map(workflows.map(({ declaration, name }) => [declaration, name]))
  const references = new CallGraph({ ...context, outline, declarations })
  let chars = 0
  return workflows.map((workflow) => {
    const { definition } = workflow.declaration
    const { tasks, nested } = references.findReachable(workflow.declaration)
    const metadata = toMetadata({
      definition,
      options: workflow.options,
      tasks,
      nested: nested.map((other) => names.get(other) as WorkflowName),
      sdkModules: settings.sdkModules,
    })
    const input = readInputSchema(definition, context)
    const record = {
      ...toDeclaredWorkflow(workflow, metadata, input, settings),
      imports: outline.imports,
    }
    chars += measureRecord(record, workflow.options)
    if (chars > MAX_ALL_CHARS) throw invalid('The source declares more than can be kept.')
    return record
  })
}

function nameDeclarations(declarations: Declaration[]): NamedDeclaration[] {
  const workflows = declarations.filter(({ kind }) => kind === 'workflow')
  if (workflows.length === 0) throw invalid('No workflow found in the provided code.')
  if (workflows.length > MAX_WORKFLOWS) {
    throw invalid(`A source may define at most ${MAX_WORKFLOWS} workflows.`)
  }
  const taken = new Set<string>()
  return workflows.map((declaration) => {
    const options = optionsOf(declaration)
    const name = readName(declaration, options)
    const qualified = name.join('/')
    if (taken.has(qualified)) throw invalid(`Workflow '${qualified}' is defined twice.`)
    taken.add(qualified)
    return { declaration, options, name }
  })
}

function readName({ definition }: Declaration, options: Options): WorkflowName {
  const { owner } = options
  if (definition.kind !== 'function' || definition.node.firstChild?.type !== 'async') {
    throw invalid(`The ${owner} must be an async function: async def ${definition.name}(ctx).`)
  }
  const namespace = readNameOption(options.get('namespace')) ?? DEFAULT_NAMESPACE
  const name = readNameOption(options.get('name')) ?? definition.name.normalize('NFC')
  return [
    checkNamespace({ owner, name: 'namespace' }, namespace),
    checkWorkflowName({ owner, name: 'name' }, name),
  ]
}

function toDeclaredWorkflow(
  { options, name }: NamedDeclaration,
  metadata: Metadata,
  { schema, notes }: InputSchema,
  { sdkModules }: AnalysisOptions,
): Omit<DeclaredWorkflow, 'imports'> {
  const requests = options.get('requests')
  const affinity = options.get('affinity')
  const asked = requests && readRequests(requests, sdkModules)
  const labels = affinity && readAffinity(affinity)
  const known = notes.length > 0 ? { ...metadata, schema_notes: notes } : metadata
  return {
    namespace: name[0],
    name: name[1],
    metadata_json: JSON.stringify(known),
    requests_json: JSON.stringify(asked ?? null),
    affinity_json: JSON.stringify(labels ?? null),
    requirement: toRequirement(asked ?? {}, labels ?? {}, metadata),
    input_schema_json: schema ? JSON.stringify(schema) : '',
  }
}

function measureRecord(record: DeclaredWorkflow, { owner }: Options): number {
  const { metadata_json, input_schema_json, imports } = record
  const chars = [metadata_json, input_schema_json, ...imports].reduce(
    (sum, text) => sum + text.length,
    0,
  )
  if (chars > MAX_RECORD_CHARS) {
    throw optionFault({ owner, name: 'metadata' }, 'it declares more than can be kept')
  }
  return chars
}

/**
 * Joins metadata and input schema into the record that clients see. They are stored apart because
 * the schema is large and lists omit it.
 */
export const withInputSchema = (metadata_json: string, input_schema_json: string): string =>
  input_schema_json
    ? `${metadata_json.slice(0, -1)},"input_schema":${input_schema_json}}`
    : metadata_json
