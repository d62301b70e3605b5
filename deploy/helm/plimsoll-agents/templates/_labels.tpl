{{- define "plimsoll.labels" -}}
app.kubernetes.io/name: plimsoll
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: agent
{{- end }}

{{- /* Not empty if agents have files: credentials, or those of TLS. */}}
{{- define "plimsoll.hasFiles" -}}
{{- if or .Values.credentials .Values.cacert .Values.cert }}true{{ end }}
{{- end }}
