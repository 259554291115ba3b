/** The machine-readable descriptions of the API, made once from the operations themselves. */
import { Type } from '@sinclair/typebox';
import { openApiDocument, roleManifest } from '../../http/openapi.ts';
import { type Operation, operation } from '../../http/operation.ts';

export interface DescriptionDependencies {
  /** All operations of the running app, these included. */
  readonly operations: () => readonly Operation[];
  readonly baseUrl: () => string;
}

/** The OpenAPI description as YAML. */
export async function openApiYaml(operations: readonly Operation[], baseUrl: string): Promise<string> {
  return Bun.YAML.stringify(await openApiDocument(operations, baseUrl), null, 2);
}

export function descriptionRoutes({ operations, baseUrl }: DescriptionDependencies): Operation[] {
  let yaml: Promise<string> | undefined;
  return [
    operation({
      id: 'getOpenApi',
      method: 'GET',
      path: '/openapi.yaml',
      summary: 'This description',
      tag: 'Descriptions',
      access: 'none',
      scope: 'instance',
      limit: 'none',
      style: 'flat',
      mediaType: 'application/yaml',
      async handle({ context }) {
        yaml ??= openApiYaml(operations(), baseUrl());
        return new Response(await yaml, {
          headers: { ...context.headers, 'Content-Type': 'application/yaml; charset=utf-8' },
        });
      },
    }),
    operation({
      id: 'getRoleManifest',
      method: 'GET',
      path: '/openapi.roles.json',
      summary: 'Which principal each operation needs',
      tag: 'Descriptions',
      access: 'none',
      scope: 'instance',
      limit: 'none',
      style: 'flat',
      data: Type.Object({
        version: Type.String(),
        operations: Type.Array(
          Type.Object({
            operationId: Type.String(),
            method: Type.String(),
            path: Type.String(),
            access: Type.String(),
            consoleRole: Type.Optional(Type.String()),
            limit: Type.String(),
          }),
        ),
      }),
      handle: () => roleManifest(operations()),
    }),
  ];
}
