/** Filters of the users list, as the address has them. */
export const USER_FILTERS = ['q', 'status', 'role', 'membership', 'sort', 'why'] as const;
