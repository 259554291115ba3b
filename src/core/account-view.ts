/** Parts and fields of the account page that an application may hide. Hidden ones stay open to the person by the API. */

/** Parts of the account in their order, each with its own path. */
export const ACCOUNT_PARTS = ['profile', 'addresses', 'sign-in', 'devices', 'applications', 'data'] as const;
export type AccountPart = (typeof ACCOUNT_PARTS)[number];

/** Sign-in, devices and data are a person's rights, which no application hides. */
export const OPTIONAL_PARTS = ['profile', 'addresses', 'applications'] as const satisfies readonly AccountPart[];
export type OptionalPart = (typeof OPTIONAL_PARTS)[number];

/** Parts of the account that consist of fields. */
const FIELDS_OF = {
  profile: ['avatar', 'banner', 'names', 'username', 'locale', 'region', 'languages'],
  addresses: ['addresses', 'entities'],
} as const satisfies Partial<Record<OptionalPart, readonly string[]>>;

export const ACCOUNT_FIELDS = [...FIELDS_OF.profile, ...FIELDS_OF.addresses] as const;
export type AccountField = (typeof ACCOUNT_FIELDS)[number];

export interface AccountView {
  readonly parts: readonly AccountPart[];
  readonly fields: readonly AccountField[];
}

interface Hiding {
  readonly hiddenAccountParts: readonly OptionalPart[] | null;
  readonly hiddenAccountFields: readonly AccountField[] | null;
}

/** Returns the parts and fields that are shown. A part without any of its fields is not. */
export function accountView({ hiddenAccountParts, hiddenAccountFields }: Hiding): AccountView {
  const fields = ACCOUNT_FIELDS.filter((field) => !hiddenAccountFields?.includes(field));
  const isEmpty = (part: AccountPart) =>
    part in FIELDS_OF && !FIELDS_OF[part as keyof typeof FIELDS_OF].some((field) => fields.includes(field));
  return {
    parts: ACCOUNT_PARTS.filter((part) => !hiddenAccountParts?.some((hidden) => hidden === part) && !isEmpty(part)),
    fields,
  };
}
