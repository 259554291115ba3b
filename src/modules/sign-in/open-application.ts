/** Checks that the application of a sign-in exists, is in service and accepts the method. */
import { isClosed } from '../../core/application-state.ts';
import { AppError } from '../../core/error.ts';
import { METHOD_NAMES, type SwitchableMethod } from '../../core/sign-in-methods.ts';
import type { Application } from '../../store/applications.ts';

/** @throws {AppError} not_found, application_archived, forbidden */
export function openApplication(application: Application | undefined, method: SwitchableMethod): Application {
  if (!application) throw new AppError('not_found', { hint: 'application_unknown' });
  if (isClosed(application)) throw new AppError('application_archived');
  if (!application.signinMethods.includes(method))
    throw new AppError('forbidden', { hint: 'method_switched_off', values: { method: METHOD_NAMES[method] } });
  return application;
}
