/** Parts of the OpenAPI description: what applications build on, and with it what the pages of this server call. */
import type { Operation } from '../../http/operation.ts';

export type DescriptionPart = 'application' | 'all';

/** The account page, the console's texts, trials and charts, the workspace, and documents that the command line applies. */
const OF_OWN_PAGES = [
  /^\/api\/account\//,
  /^\/api\/workspaces?(?:\/|$)/,
  /^\/api\/setup$/,
  /\/apply$/,
  /^\/gatehouse\./,
  /\/mail-lines(?:\/|$)/,
  /\/sign-in-trial$/,
  /\/(?:stats|calls|performance)$/,
];

/** People's profiles, which pages of applications show and change too. */
const OF_APPLICATIONS = [/^\/api\/account\/profile\//, /^\/api\/account\/self\//];

export const PARTS_EXPLAINED =
  'This is the API of an application: sign-in, verification, and the management of its people. With `?part=all` the description also has the account page’s, the workspace’s and the instance’s operations.';

/** Returns the operations that this part describes. */
export function operationsInPart(part: DescriptionPart, operations: readonly Operation[]): readonly Operation[] {
  if (part === 'all') return operations;
  return operations.filter(
    ({ path }) => !OF_OWN_PAGES.some((own) => own.test(path)) || OF_APPLICATIONS.some((kept) => kept.test(path)),
  );
}
