import { ALL_WRITTEN } from '../../core/last-batches.ts';
import { keyExpiryJob } from '../../jobs/key-expiry.ts';
import type { Module, ModuleContext } from '../module.ts';
import { apiKeyRoutes } from './routes.ts';
import { type ApiKeys, apiKeyService } from './service.ts';
import { keyEndings } from './background-tasks.ts';

export function apiKeysModule(context: ModuleContext): Module & { readonly service: ApiKeys } {
  const service = apiKeyService(context);
  const expiry = keyExpiryJob(context);
  return {
    service,
    operations: apiKeyRoutes(service),
    jobs: [expiry],
    tasks: [keyEndings],
    flush: {
      of: 'expired keys',
      async run() {
        await expiry.runOnce();
        return ALL_WRITTEN;
      },
    },
  };
}
