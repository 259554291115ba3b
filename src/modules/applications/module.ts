/** Applications: their settings, their stage, and the checks of their legal URLs. */
import type { Module, ModuleContext } from '../module.ts';
import { legalUrlService } from './legal-urls.ts';
import { applicationRoutes } from './routes.ts';
import { type ApplicationDependencies, type Applications, applicationService } from './service.ts';
import { type SignInTrials, signInTrials } from './sign-in-trial.ts';

export function applicationsModule(
  context: ModuleContext,
  { openToPublic }: Pick<ApplicationDependencies, 'openToPublic'>,
): Module & { readonly service: Applications; readonly trials: SignInTrials } {
  const service = applicationService({ ...context, openToPublic });
  const trials = signInTrials(context);
  return { service, trials, operations: applicationRoutes(service, legalUrlService(context), trials) };
}
