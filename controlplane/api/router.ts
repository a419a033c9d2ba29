/**
 * The longest key has 519 characters, the longest step path 128: the router's own bound of 100 would not find
 * them.
 */
export const maxParamLength = 1024;
