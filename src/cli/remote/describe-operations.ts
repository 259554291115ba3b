/** Build time only: writes the operations that commands derive from, so that a command starts without the server. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { loadConfig } from '../../config.ts';
import { dangerOf, type Operation } from '../../http/operation.ts';
import { documented } from '../../modules/description/openapi.ts';
import { argumentsOf } from '../../modules/mcp/arguments.ts';
import { isPlainManagement } from '../../modules/mcp/tools.ts';
import { operationsOf } from '../openapi.ts';
import type { FieldDescription, OperationDescription } from './operations.ts';

const GENERATED_FILE = join(import.meta.dir, 'generated', 'operations.ts');

const HEADER = '/** Written by src/cli/remote/describe-operations.ts from the operations; do not edit. */\n\n';

/** Writes `generated/operations.ts` unless unchanged. The pages must be bundled already. */
export async function describeOperations(): Promise<void> {
  const operations = documented(await operationsOf(loadConfig({}))).filter(isPlainManagement);
  const described = Object.fromEntries(operations.map((operation) => [operation.id, describe(operation)]));
  // JSON text, parsed on first use: unused objects would slow down every garbage collection.
  const text = `${HEADER}export const operationsText: string = ${JSON.stringify(JSON.stringify(described))};\n`;
  const file = Bun.file(GENERATED_FILE);
  if ((await file.exists()) && (await file.text()) === text) return;
  await mkdir(join(GENERATED_FILE, '..'), { recursive: true });
  await Bun.write(file, text);
}

function describe(operation: Operation): OperationDescription {
  const { schema, inPath, inQuery } = argumentsOf(operation, {});
  const fields = Object.entries(schema.properties).map(([name, property]): [string, FieldDescription] => {
    const { type, enum: words, description } = property as Partial<FieldDescription>;
    return [name, { type, enum: words, description }];
  });
  const danger = dangerOf(operation);
  return {
    method: operation.method.toLowerCase() as OperationDescription['method'],
    path: operation.path.replace(/:(\w+)/g, '{$1}'),
    summary: operation.summary,
    ...(danger !== null && { danger }),
    inPath,
    inQuery,
    required: schema.required ?? [],
    fields: Object.fromEntries(fields),
  };
}
