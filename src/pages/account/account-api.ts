/** Calls the account API, authenticated by the application's cookie. */
import { type Outcome, request } from '../browser/api.ts';

export interface OwnAccount {
  readonly userId: string;
  readonly email: string;
  readonly emailVerifiedAt: string | null;
  readonly identity: {
    readonly name: string | null;
    readonly fullName: string | null;
    readonly givenName: string | null;
    readonly familyName: string | null;
    readonly locale: string | null;
    readonly timezone: string | null;
    readonly [other: string]: unknown;
  };
  readonly username: string | null;
  readonly applicationId: string;
  readonly memberships: readonly Membership[];
  readonly region: Readonly<Record<string, string | null>> | null;
  readonly avatarUrl: string | null;
  /** Null when none was uploaded; `avatarUrl` may then point to a provider. */
  readonly avatarSizes: readonly number[] | null;
  readonly avatarUpdatedAt: string | null;
  readonly bannerSizes: readonly number[] | null;
  readonly bannerUpdatedAt: string | null;
  readonly createdAt: string;
}

export interface Membership {
  readonly applicationId: string;
  readonly name: string;
  readonly slug: string;
  readonly status: string;
  readonly username: string | null;
  readonly joinedAt: string;
}

/** Client of the API; never throws. */
export interface AccountApi {
  get<T>(path: string): Promise<Outcome<T>>;
  send<T>(method: 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, body?: unknown): Promise<Outcome<T>>;
  /** Uploads a file with PUT. */
  upload<T>(path: string, form: FormData): Promise<Outcome<T>>;
}

/** @param clientId application that the reader is signed in to. */
export function accountApi(clientId: string): AccountApi {
  return {
    get: (path) => request(path, { method: 'GET', clientId }),
    send: (method, path, body) => request(path, { method, clientId, ...(body !== undefined && { json: body }) }),
    upload: (path, form) => request(path, { method: 'PUT', clientId, form }),
  };
}
