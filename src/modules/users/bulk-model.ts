/** Input and output of changes to all users that a filter matches. */
import { type Static, type TProperties, Type } from '@sinclair/typebox';
import { Choice, Email, Id, Input, Nullable, PageOf, Remark, Slug, Timestamp } from '../../http/schemas.ts';
import { GrantsOfKind, HeldSlug, UserStatusFilterSchema } from './model.ts';
import { STATUS_ACTIONS } from './status.ts';

const criteria = {
  q: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 320,
      description: 'Part of the e-mail, the username or the name, in any case.',
      remedy: 'Give 1 to 320 characters.',
      examples: ['example.org'],
    }),
  ),
  status: Type.Optional(UserStatusFilterSchema({ description: '`imported`: active people who have never signed in.' })),
  role: Type.Optional(HeldSlug('Only users with this role, by its slug.')),
  membership: Type.Optional(HeldSlug('Only users in this membership group, by its slug.')),
} satisfies TProperties;

/** Criteria as in the list; without any, all users. */
export const UserFilter = Input(criteria, { $id: 'UserFilter' });
export type UserFilter = Static<typeof UserFilter>;

export const UserCountQuery = Type.Object({
  ...criteria,
  cursor: Type.Optional(Type.String({ isAnyText: true, description: '`nextCursor` of the previous call.' })),
});

export const UserCount = Type.Object(
  {
    count: Type.Integer({ description: 'Users counted by this call.', examples: [1940] }),
    nextCursor: Nullable(
      Type.String({ description: 'Continues a count that took long; add the counts. Null at the end.' }),
    ),
  },
  { $id: 'UserCount' },
);
export type UserCount = Static<typeof UserCount>;

export const BulkChangeInput = Input({
  filter: UserFilter,
  action: Type.Optional(Choice(STATUS_ACTIONS, { $id: 'UserAction' })),
  reason: Type.Optional(Remark()),
  roles: GrantsOfKind,
  scopes: GrantsOfKind,
  memberships: GrantsOfKind,
});
export type BulkChangeInput = Static<typeof BulkChangeInput>;

const SlugsOfKind = Type.Optional(
  Type.Object({ add: Type.Optional(Type.Array(Slug())), remove: Type.Optional(Type.Array(Slug())) }),
);

const entry = {
  id: Id('blk'),
  status: Choice(['running', 'finished', 'stopped'], { $id: 'BulkChangeStatus' }),
  action: Nullable(Choice(STATUS_ACTIONS, { $id: 'UserAction' })),
  reason: Nullable(Type.String()),
  grants: Nullable(Type.Object({ roles: SlugsOfKind, scopes: SlugsOfKind, memberships: SlugsOfKind })),
  filter: Nullable(
    Type.Object(criteria, { description: 'Null for an undo: it concerns the people whom the other change changed.' }),
  ),
  done: Type.Integer({ description: 'People processed so far.', examples: [1940] }),
  total: Nullable(Type.Integer({ description: 'People in all; null until counted.', examples: [1940] })),
  changed: Type.Integer({ examples: [1931] }),
  unchanged: Type.Integer({ description: 'They were so already.', examples: [9] }),
  refused: Type.Integer({ description: 'Their state does not allow it.', examples: [0] }),
  skipped: Type.Integer({
    description: 'Left alone, because somebody else changed them after the start.',
    examples: [0],
  }),
  undoOf: Nullable(Id('blk')),
  undoneBy: Nullable(Id('blk')),
  isUndoable: Type.Boolean(),
  startedAt: Timestamp(),
  finishedAt: Nullable(Timestamp()),
} satisfies TProperties;

export const BulkChangeRecord = Type.Object(entry, { $id: 'BulkChange' });
export type BulkChangeRecord = Static<typeof BulkChangeRecord>;

export const BulkChangePage = PageOf(BulkChangeRecord);

export const BulkChangeDetail = Type.Intersect(
  [
    BulkChangeRecord,
    Type.Object({
      leftOut: Type.Array(
        Type.Object({
          userId: Id('usr'),
          email: Email(),
          outcome: Choice(['refused', 'skipped']),
          message: Nullable(Type.String()),
        }),
        { description: 'Up to 100 of those who were refused or left alone.' },
      ),
    }),
  ],
  { $id: 'BulkChangeDetail' },
);
export type BulkChangeDetail = Static<typeof BulkChangeDetail>;
