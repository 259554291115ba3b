import type { Module, ModuleContext } from '../module.ts';
import { IMPORT_OUTCOMES } from './model.ts';
import { importRoutes } from './routes.ts';
import { type Import, importService } from './service.ts';

export function importModule({ db, metrics }: ModuleContext): Module & { readonly service: Import } {
  const rows = metrics.counter('gatehouse_imported_rows_total', 'Rows of user imports, by outcome.', {
    outcome: IMPORT_OUTCOMES,
  });
  const service = importService(db, (outcome) => rows.inc(outcome));
  return { service, operations: importRoutes(service) };
}
