/** People brought along from elsewhere, many at a time. */
import type { Module, World } from '../module.ts';
import { importRoutes } from './routes.ts';
import { importService } from './service.ts';

export function importModule({ db }: World): Module {
  return { operations: importRoutes(importService(db)) };
}
