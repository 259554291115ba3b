import type { Operation } from '../../http/operation.ts';
import { pathTemplate } from '../description/mounted.ts';

/** The fragment uses the renderer's format: tag, method, path. */
export function referencePath(operation: Pick<Operation, 'tag' | 'method' | 'path'>): string {
  const tag = operation.tag.toLowerCase().replaceAll(/\s+/g, '-');
  return `/docs/reference#tag/${tag}/${operation.method}${pathTemplate(operation as Operation)}`;
}
