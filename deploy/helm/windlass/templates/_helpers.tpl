{{- define "windlass.name" -}}
{{- if contains "windlass" .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{ else }}{{ printf "%s-windlass" .Release.Name | trunc 40 | trimSuffix "-" }}{{ end -}}
{{- end }}

{{/* Labels of an object: { root, component }. */}}
{{- define "windlass.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
{{ include "windlass.selector" . }}
{{- end }}

{{- define "windlass.selector" -}}
app.kubernetes.io/name: {{ .root.Chart.Name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{/* Reference of an image: { image, default, root }. */}}
{{- define "windlass.image" -}}
{{- $repository := .image.repository | default .default.repository -}}
{{- $digest := .image.digest | default (ternary "" .default.digest (ne .image.repository "")) -}}
{{- if $digest }}{{ $repository }}@{{ $digest }}{{ else }}{{ $repository }}:{{ .image.tag | default .default.tag | default .root.Chart.AppVersion }}{{ end -}}
{{- end }}

{{- define "windlass.podSecurity" -}}
runAsNonRoot: true
runAsUser: {{ . }}
runAsGroup: {{ . }}
fsGroup: {{ . }}
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "windlass.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{/* A variable from the secret: { root, name, key }. */}}
{{- define "windlass.secretVariable" -}}
- name: {{ .name }}
  valueFrom:
    secretKeyRef: { name: {{ .root.Values.secretName | quote }}, key: {{ .key | quote }} }
{{- end }}

{{/* Settings of every service that calls others or is called. */}}
{{- define "windlass.addresses" -}}
{{- $root := . -}}
{{- $name := include "windlass.name" . -}}
{{- range $service := list "identity" "catalog" "executions" "dispatcher" "scheduler" }}
- { name: SVC_SERVICES__{{ upper $service }}, value: "{{ $name }}-{{ $service }}:9000" }
{{- end }}
{{- $streams := list -}}
{{- $scheme := ternary "https" "http" (ne .Values.tls.services.secretName "") -}}
{{- range $i := until (int .Values.services.dispatcher.replicas) }}
{{- $streams = append $streams (printf "%s://%s-dispatcher-%d.%s-dispatcher:9001" $scheme $name $i $name) -}}
{{- end }}
- { name: SVC_SERVICES__DISPATCHER_STREAMS, value: {{ join "," $streams | quote }} }
{{- if .Values.tls.services.secretName }}
- { name: SVC_RPC__TLS_CA, value: /etc/windlass/tls/services/ca.crt }
- { name: SVC_RPC__TLS_CERT, value: /etc/windlass/tls/services/tls.crt }
- { name: SVC_RPC__TLS_KEY, value: /etc/windlass/tls/services/tls.key }
{{- end }}
{{- end }}

{{/* Variables of a service: { root, service }. */}}
{{- define "windlass.env" -}}
{{- $root := .root -}}
{{- $service := .service -}}
{{- $values := .root.Values -}}
- { name: SVC_SECURITY__AUTH__ENABLED, value: {{ $values.authentication | quote }} }
- { name: SVC_ADMIN__DRAIN_DELAY, value: {{ $values.drainDelaySeconds | quote }} }
{{- if ne $service "mcp" }}
{{- include "windlass.addresses" $root | nindent 0 }}
{{ include "windlass.secretVariable" (dict "root" $root "name" "SVC_RPC__KEYS" "key" (printf "rpc-keys-%s" $service)) }}
{{- end }}
{{- if has $service (list "identity" "catalog" "executions" "dispatcher" "scheduler") }}
{{ include "windlass.secretVariable" (dict "root" $root "name" "SVC_POSTGRES__URL" "key" (printf "postgres-url-%s" $service)) }}
{{- end }}
{{- if has $service (list "gateway" "catalog" "executions" "dispatcher" "scheduler") }}
{{ include "windlass.secretVariable" (dict "root" $root "name" "SVC_NATS__URL" "key" (printf "nats-url-%s" $service)) }}
- { name: SVC_NATS__REPLICAS, value: {{ $values.nats.replicas | quote }} }
{{- with $values.nats.prefix }}
- { name: SVC_NATS__PREFIX, value: {{ . | quote }} }
{{- end }}
{{- if $values.storeAuthorities.nats.secretName }}
- { name: SVC_NATS__TLS_CA, value: /etc/windlass/tls/nats/ca.crt }
{{- end }}
{{- end }}
{{- if has $service (list "gateway" "identity" "catalog") }}
{{ include "windlass.secretVariable" (dict "root" $root "name" "SVC_REDIS__URL" "key" (printf "redis-url-%s" $service)) }}
{{- if $values.storeAuthorities.redis.secretName }}
- { name: SVC_REDIS__TLS_CA, value: /etc/windlass/tls/redis/ca.crt }
{{- end }}
{{- end }}
{{- if has $service (list "gateway" "executions") }}
{{ include "windlass.secretVariable" (dict "root" $root "name" "SVC_SECURITY__EXECUTION_TOKEN_SECRET" "key" "execution-token-secret") }}
{{- end }}
{{- if eq $service "identity" }}
{{ include "windlass.secretVariable" (dict "root" $root "name" "SVC_WORKERS__BOOTSTRAP_TOKEN" "key" "bootstrap-token") }}
{{ include "windlass.secretVariable" (dict "root" $root "name" "SVC_SECURITY__ENCRYPTION__ENCRYPTION_KEY" "key" "encryption-key") }}
{{- end }}
{{- if has $service (list "gateway" "mcp") }}
- { name: SVC_SERVER__TRUSTED_PROXIES, value: {{ $values.trustedProxies | quote }} }
- name: SVC_SERVER__ALLOWED_HOSTS
  value: {{ concat (list (printf "%s-%s" (include "windlass.name" $root) $service)) $values.allowedHosts | join "," | quote }}
{{- end }}
{{- if eq $service "gateway" }}
{{- with $values.publicUrl }}
- { name: SVC_SERVER__PUBLIC_URL, value: {{ . | quote }} }
{{- end }}
{{- if $values.tls.gateway.secretName }}
- { name: SVC_SERVER__TLS_CERT, value: /etc/windlass/tls/gateway/tls.crt }
- { name: SVC_SERVER__TLS_KEY, value: /etc/windlass/tls/gateway/tls.key }
{{- end }}
{{- if not $values.authentication }}
- { name: SVC_SERVER__ALLOW_ANONYMOUS_NETWORK, value: "true" }
{{- end }}
{{- end }}
{{- if eq $service "mcp" }}
- { name: SVC_MCP__SERVER_URL, value: {{ include "windlass.serverUrl" $root | quote }} }
{{- with $values.ingress.mcpHost }}
- { name: SVC_MCP__ALLOWED_HOSTS, value: {{ . | quote }} }
{{- end }}
{{- if $values.tls.gateway.secretName }}
- { name: NODE_EXTRA_CA_CERTS, value: /etc/windlass/tls/gateway/ca.crt }
{{- end }}
{{- if not $values.authentication }}
- { name: SVC_SERVER__ALLOW_ANONYMOUS_NETWORK, value: "true" }
{{- end }}
{{- end }}
{{- with (index $values.services $service).env }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Where workers and MCP reach the gateways. */}}
{{- define "windlass.serverUrl" -}}
{{ ternary "https" "http" (ne .Values.tls.gateway.secretName "") }}://{{ include "windlass.name" . }}-gateway:8000
{{- end }}

{{/* Files of a service, as [name, folder of its mount, secret, key or ""]: { root, service }. */}}
{{- define "windlass.files" -}}
{{- $values := .root.Values -}}
{{- $files := list -}}
{{- if and $values.tls.services.secretName (ne .service "mcp") }}
{{- $files = append $files (dict "name" "services" "secret" $values.tls.services.secretName) -}}
{{- end }}
{{- if and $values.tls.gateway.secretName (has .service (list "gateway" "mcp")) }}
{{- $files = append $files (dict "name" "gateway" "secret" $values.tls.gateway.secretName) -}}
{{- end }}
{{- $users := dict "postgres" (list "identity" "catalog" "executions" "dispatcher" "scheduler") "nats" (list "gateway" "catalog" "executions" "dispatcher" "scheduler") "redis" (list "gateway" "identity" "catalog") -}}
{{- $service := .service -}}
{{- range $store := list "postgres" "nats" "redis" }}
{{- $authority := index $values.storeAuthorities $store -}}
{{- if and $authority.secretName (has $service (index $users $store)) }}
{{- $files = append $files (dict "name" $store "secret" $authority.secretName "key" $authority.key) -}}
{{- end }}
{{- end }}
{{- toJson (dict "files" $files) }}
{{- end }}

{{- define "windlass.mounts" -}}
{{- range (include "windlass.files" . | fromJson).files }}
- { name: tls-{{ .name }}, mountPath: /etc/windlass/tls/{{ .name }}, readOnly: true }
{{- end }}
{{- if .root.Values.config }}
- { name: config, mountPath: /etc/windlass/svc.toml, subPath: svc.toml, readOnly: true }
{{- end }}
{{- end }}

{{- define "windlass.volumes" -}}
{{- range (include "windlass.files" . | fromJson).files }}
- name: tls-{{ .name }}
  secret:
    secretName: {{ .secret | quote }}
    defaultMode: 0440
{{- if .key }}
    items: [{ key: {{ .key | quote }}, path: ca.crt }]
{{- end }}
{{- end }}
{{- if .root.Values.config }}
- name: config
  configMap: { name: {{ include "windlass.name" .root }} }
{{- end }}
{{- end }}

{{/* Where pods run: values of a service or of workers. */}}
{{- define "windlass.placement" -}}
{{- with .nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .runtimeClassName }}
runtimeClassName: {{ . }}
{{- end }}
{{- end }}

{{/*
Queued executions whose affinity the labels of a deployment of workers meet: { root, worker }. Those without
affinity, and those beyond the requirements with the longest queues (_other), count for the deployments without
labels, and for all of them if there is none.
*/}}
{{- define "windlass.queueQuery" -}}
{{- $hasUnlabelled := false -}}
{{- range .root.Values.workers }}
{{- $each := mergeOverwrite (deepCopy $.root.Values.workerDefaults) . }}
{{- if not $each.labels }}{{ $hasUnlabelled = true }}{{ end }}
{{- end }}
{{- $patterns := list -}}
{{- if or (not .worker.labels) (not $hasUnlabelled) }}{{ $patterns = list "" "_other" }}{{ end -}}
{{- $labels := list -}}
{{- range $key, $value := .worker.labels }}{{ $labels = append $labels (regexQuoteMeta (printf "%s=%s" $key $value)) }}{{ end -}}
{{- with join "|" $labels }}{{ $patterns = append $patterns (printf "(%s)(,(%s))*" . .) }}{{ end -}}
sum(max by (requirement) (windlass_queue_executions{affinity=~{{ join "|" $patterns | toJson }}}))
{{- end }}
