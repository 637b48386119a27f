// `node --import tsx scripts/kubernetes-schemas.ts`: writes the JSON schemas of the kinds that the chart uses to
// deploy/helm/schemas, in the form that kubeconform reads. The sources are Go modules, so that neither a cluster
// nor a schema server is needed. The result is committed; run it again to check against another release.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { parse } from 'yaml'
import { PROJECT } from './bootstrap/data-dir.mjs'

const TARGET = path.join(PROJECT, 'deploy/helm/schemas')
const KUBERNETES = 'k8s.io/kubernetes@v1.32.3'
const KINDS = [
  ...[
    'v1/ConfigMap',
    'v1/Service',
    'v1/ServiceAccount',
    'apps/v1/Deployment',
    'apps/v1/StatefulSet',
  ],
  ...['batch/v1/Job', 'policy/v1/PodDisruptionBudget', 'autoscaling/v2/HorizontalPodAutoscaler'],
  ...['networking.k8s.io/v1/Ingress', 'networking.k8s.io/v1/NetworkPolicy'],
]
/** Definitions of further kinds, by their module. */
const CUSTOM: Record<string, string[]> = {
  'github.com/kedacore/keda/v2@v2.17.0': ['config/crd/bases/keda.sh_scaledobjects.yaml'],
  'github.com/prometheus-operator/prometheus-operator@v0.85.0': [
    'example/prometheus-operator-crd/monitoring.coreos.com_podmonitors.yaml',
    'example/prometheus-operator-crd/monitoring.coreos.com_prometheusrules.yaml',
  ],
}
const REF = '#/definitions/'
const DEFINITIONS = 'definitions.json'
/** Definitions whose OpenAPI form is narrower than what the server accepts. */
const WIDER: Record<string, Schema> = {
  'io.k8s.apimachinery.pkg.util.intstr.IntOrString': { type: ['string', 'integer'] },
  'io.k8s.apimachinery.pkg.api.resource.Quantity': { type: ['string', 'number'] },
}

type Schema = { [key: string]: unknown }
interface Kind {
  group: string
  version: string
  kind: string
}

rmSync(TARGET, { recursive: true, force: true })
mkdirSync(TARGET, { recursive: true })
writeBuiltIn()
for (const [module, files] of Object.entries(CUSTOM)) {
  const folder = download(module)
  for (const file of files) writeCustom(readFileSync(path.join(folder, file), 'utf8'))
}

/** Returns the folder of a Go module. */
function download(module: string): string {
  const answer = execFileSync('go', ['mod', 'download', '-json', module], { encoding: 'utf8' })
  return (JSON.parse(answer) as { Dir: string }).Dir
}

/** Writes a file for each built-in kind and one with the definitions that they share. */
function writeBuiltIn(): void {
  const file = path.join(download(KUBERNETES), 'api/openapi-spec/swagger.json')
  const { definitions } = JSON.parse(readFileSync(file, 'utf8')) as {
    definitions: Record<string, Schema>
  }
  const used: Record<string, Schema> = {}
  const use = (name: string): void => {
    if (used[name]) return
    const schema = WIDER[name] ?? (strict(definitions[name]) as Schema)
    used[name] = schema
    for (const [, other = ''] of JSON.stringify(schema).matchAll(/"#\/definitions\/([^"]+)"/g))
      use(other)
  }
  for (const [name, schema] of Object.entries(definitions)) {
    const found = (schema['x-kubernetes-group-version-kind'] ?? []) as Kind[]
    const kind = found.find(({ group, version, kind }) =>
      KINDS.includes([group, version, kind].filter(Boolean).join('/')),
    )
    if (found.length !== 1 || !kind) continue
    use(name)
    write(fileOf(kind), { ...limitedTo(kind), allOf: [{ $ref: `${DEFINITIONS}${REF}${name}` }] })
  }
  const sorted = Object.entries(used).sort(([a], [b]) => (a < b ? -1 : 1))
  write(DEFINITIONS, { definitions: Object.fromEntries(sorted) })
}

/** Writes a file for each version of a CustomResourceDefinition. */
function writeCustom(text: string): void {
  const { spec } = parse(text) as {
    spec: {
      group: string
      names: { kind: string }
      versions: { name: string; schema: { openAPIV3Schema: Schema } }[]
    }
  }
  for (const { name, schema } of spec.versions) {
    const own = strict(schema.openAPIV3Schema) as { properties: Schema }
    own.properties.metadata = { type: 'object' }
    write(fileOf({ group: spec.group, version: name, kind: spec.names.kind }), own)
  }
}

function limitedTo({ group, version, kind }: Kind): Schema {
  const apiVersion = { const: group ? `${group}/${version}` : version }
  return { properties: { apiVersion, kind: { const: kind } }, required: ['apiVersion', 'kind'] }
}

/** kubeconform's name of a kind: its group without the domain. */
function fileOf({ group, version, kind }: Kind): string {
  return [kind, group.split('.')[0], version]
    .filter(Boolean)
    .join('-')
    .toLowerCase()
    .concat('.json')
}

/** Returns a schema without prose, that refuses members which it does not name. */
function strict(value: unknown, isMapOfSchemas = false): unknown {
  if (Array.isArray(value)) return value.map((each) => strict(each))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(
    ([key]) => isMapOfSchemas || !/^x-|^(description|format|default|example)$/.test(key),
  )
  const schema = Object.fromEntries(
    entries.map(([key, member]) => [key, strict(member, !isMapOfSchemas && key === 'properties')]),
  )
  if (isMapOfSchemas) return schema
  if ((value as Schema)['x-kubernetes-int-or-string'] === true)
    return { type: ['string', 'integer'] }
  const isOpen = (value as Schema)['x-kubernetes-preserve-unknown-fields'] === true
  if (schema.properties && schema.additionalProperties === undefined && !isOpen)
    schema.additionalProperties = false
  return schema
}

function write(name: string, schema: Schema): void {
  writeFileSync(path.join(TARGET, name), `${JSON.stringify(schema)}\n`)
}
