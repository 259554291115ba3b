/** The application that somebody wants to sign in to: whether it is there, in service, and takes the method. */
import { isClosed } from '../../core/application-state.ts';
import { AppError } from '../../core/error.ts';
import type { Application, SIGNIN_METHODS } from '../../store/applications.ts';

const SWITCHED_OFF: Record<(typeof SIGNIN_METHODS)[number], string> = {
  otp: 'Sign-in by code is switched off for this application.',
  passkey: 'Sign-in by passkey is switched off for this application.',
  provider: 'Sign-in by an identity provider is switched off for this application.',
};

/** @throws {AppError} not_found, application_archived, forbidden */
export function openApplication(
  application: Application | undefined,
  method: (typeof SIGNIN_METHODS)[number],
): Application {
  if (!application)
    throw new AppError('not_found', { message: 'There is no application with this clientId; check its settings.' });
  if (isClosed(application)) throw new AppError('application_archived');
  if (!application.signinMethods.includes(method)) throw new AppError('forbidden', { message: SWITCHED_OFF[method] });
  return application;
}
