import { withoutNul } from './unquotable.ts';

/**
 * A value of a container's command or environment that the kubelet passes on unchanged. It replaces `$(NAME)` by a variable
 * of the container, and `$$` by `$`. Only what it would touch is changed: a pod template must stay what it was.
 */
export const literal = (text: string): string =>
  withoutNul(text, 'a container').replace(/\$\$+|\$(?=\([-._A-Za-z][-._A-Za-z0-9]*\))/g, dollars => dollars + dollars);
