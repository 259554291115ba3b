import { Type } from '@sinclair/typebox';
import { answerTagged, type Tagged, tagged } from '../../http/etag.ts';
import type { LimitSettings } from '../../http/limits.ts';
import { type Operation, operation } from '../../http/operation.ts';
import { openApiDocument } from './openapi.ts';
import { roleManifest } from './roles.ts';
import { yaml } from './yaml.ts';

export interface DescriptionDependencies {
  readonly operations: () => readonly Operation[];
  readonly baseUrl: () => string;
  readonly limits: LimitSettings;
}

export async function openApiYaml(
  operations: readonly Operation[],
  baseUrl: string,
  limits: LimitSettings,
): Promise<string> {
  return yaml(await openApiDocument(operations, baseUrl, limits));
}

export function descriptionRoutes({ operations, baseUrl, limits }: DescriptionDependencies): Operation[] {
  // Each is built at the first call and cached: it takes a while and cannot change while the process runs.
  let document: Promise<object> | undefined;
  const described = () => (document ??= openApiDocument(operations(), baseUrl(), limits));
  let asYaml: Promise<Tagged> | undefined;
  let asJson: Promise<Tagged> | undefined;
  const common = {
    method: 'GET',
    tag: 'Descriptions',
    access: 'none',
    scope: 'instance',
    limit: 'none',
    style: 'flat',
  } as const;
  return [
    operation({
      ...common,
      id: 'getOpenApi',
      path: '/openapi.yaml',
      summary: 'Read this description',
      mediaType: 'application/yaml',
      isRevalidated: true,
      async handle({ context }) {
        asYaml ??= described()
          .then(yaml)
          .then((text) => tagged(text));
        return answerTagged(context, await asYaml, { mediaType: 'application/yaml' });
      },
    }),
    operation({
      ...common,
      id: 'getOpenApiJson',
      path: '/openapi.json',
      summary: 'Read this description, as JSON',
      data: Type.Object({}, { additionalProperties: true }),
      isRevalidated: true,
      async handle({ context }) {
        asJson ??= described()
          .then(JSON.stringify)
          .then((text) => tagged(text));
        return answerTagged(context, await asJson, { mediaType: 'application/json' });
      },
    }),
    operation({
      ...common,
      id: 'getRoleManifest',
      path: '/openapi.roles.json',
      summary: 'Read which principal each operation needs',
      data: Type.Object({
        version: Type.String(),
        limits: Type.Record(Type.String(), Type.String(), {
          description: 'Limits on callers in this instance.',
        }),
        operations: Type.Array(
          Type.Object({
            operationId: Type.String(),
            method: Type.String(),
            path: Type.String(),
            access: Type.String(),
            consoleRole: Type.Optional(Type.String()),
            limit: Type.String(),
            readOnly: Type.Boolean(),
            destructive: Type.Boolean({ description: 'The operation loses data or cannot be undone.' }),
            confirm: Type.Boolean({
              description:
                'Agents ask for confirmation: it is destructive, gives access or a secret, or sends data elsewhere.',
            }),
            idempotent: Type.Boolean(),
          }),
        ),
      }),
      handle: () => roleManifest(operations(), limits),
    }),
  ];
}
