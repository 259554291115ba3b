/** Generates the seed file's JSON Schema from the schemas that validate it. */
import { Components } from '../description/components.ts';
import { jsonSchema } from '../description/json-schema.ts';
import { SeedDocument } from './model.ts';

/** Returns draft 2020-12, which editors read. */
export function seedSchema(): object {
  const components = new Components();
  const root = jsonSchema(SeedDocument, components, 'SeedDocument') as { $ref?: string };
  const { schemas: definitions = {} } = components.sorted();
  const { SeedDocument: document = root, ...$defs } = definitions;
  const local = JSON.stringify({ ...document, $defs }).replaceAll('"#/components/schemas/', '"#/$defs/');
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Gatehouse seed file',
    description: 'What an instance is to have: for gatehouse apply and serve --seed.',
    ...(JSON.parse(local) as object),
  };
}
