import type { TSchema } from '@sinclair/typebox';
import { type Operation, WORKSPACE_PARAMETER } from '../../http/operation.ts';
import { PageQuery } from '../../http/schemas.ts';
import { type Components, pascalCase, type Reference } from './components.ts';
import { jsonSchema } from './json-schema.ts';

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly description?: string;
  readonly schema: object;
}

export function describedParameters(operation: Operation, components: Components): (Parameter | Reference)[] {
  const { path, pathValues, scope, query, isRevalidated } = operation;
  return [
    ...[...path.matchAll(/:(\w+)/g)].map(([, name = '']) => inPath(name, pathValues?.[name], components)),
    ...(scope === 'workspace' ? [components.share('parameters', 'WorkspaceId', WORKSPACE)] : []),
    ...Object.entries(query?.properties ?? {}).map(([name, schema]) =>
      inQuery(name, schema, query?.required?.includes(name) ?? false, components),
    ),
    ...(isRevalidated ? [components.share('parameters', 'IfNoneMatch', IF_NONE_MATCH)] : []),
  ];
}

const WORKSPACE = {
  name: WORKSPACE_PARAMETER,
  in: 'query',
  required: false,
  description: 'For members of several workspaces; default the first.',
  schema: { type: 'string' },
};

const IF_NONE_MATCH = {
  name: 'If-None-Match',
  in: 'header',
  required: false,
  description: 'The `ETag` of the cached copy; answers 304 if it is current.',
  schema: { type: 'string' },
};

/** Parameters not listed here are ids from the matching list. */
const PATH_PARAMETERS: Readonly<Record<string, { readonly component: string; readonly description: string }>> = {
  id: { component: 'ApplicationId', description: 'The id of the application, `app_…`.' },
  appSlug: { component: 'ApplicationSlug', description: 'The slug of the application.' },
  userId: { component: 'UserId', description: 'The id of the person, `usr_…`, as verification returns it.' },
  keyId: { component: 'KeyId', description: 'The id of the key, not the key itself.' },
  service: { component: 'Service', description: 'Group of texts: a page, the mails, or the errors.' },
  locale: { component: 'Locale', description: 'The language, as a BCP 47 tag.' },
  file: { component: 'File', description: 'The kind of picture and its width, such as `avatar-128.webp`.' },
  image: { component: 'ApplicationImage', description: 'Which image of the application.' },
  imageFile: { component: 'ImageFile', description: 'The image of the application, such as `logo-dark.png`.' },
};

function inPath(name: string, values: readonly string[] | undefined, components: Components): Reference {
  const { component, description } = PATH_PARAMETERS[name] ?? {
    component: pascalCase(name),
    description: 'The `id` from the list.',
  };
  const parameter = { name, in: 'path', required: true, description, schema: { type: 'string', enum: values } };
  return components.share('parameters', component, parameter);
}

/** Moves the description from the schema to the parameter, where tools look for it. */
function inQuery(name: string, schema: TSchema, required: boolean, components: Components): Parameter | Reference {
  const { description, ...rest } = jsonSchema(schema, components) as { readonly description?: string };
  const parameter = { name, in: 'query', required, ...(description && { description }), schema: rest };
  const isOfEveryList = (PageQuery.properties as Record<string, TSchema>)[name] === schema;
  return isOfEveryList ? components.share('parameters', pascalCase(name), parameter) : parameter;
}
