package entrycache.recorder;

import java.util.ArrayList;
import java.util.List;

/**
 * One kind of hooked place in a released class, and the number of times it must occur.
 *
 * <p>It is read from a line of a {@code *.sites} file: count, class, method, kind, target, hook. A {@code *} at the end
 * of the method stands for any further letters, and {@code :TEXT} for a method whose descriptor contains TEXT. The kind
 * is one of
 * <ul>
 * <li>{@code call}: a call of the target becomes a call of the hook with the same values on the stack;
 * <li>{@code first}: like {@code call}, but only the first of these calls is replaced;
 * <li>{@code store}: a write of the target field becomes a call of the hook;
 * <li>{@code enter}: the method calls the hook first;
 * <li>{@code wrap}: the method calls the hook first and the target, another hook, last, even if it throws;
 * <li>{@code answer}: the method passes what it would return, itself and an array of its arguments to the hook, and
 * returns what the hook returns;
 * <li>{@code return}: the method calls the hook before each return, with the returned value if there is one.
 * </ul>
 * Variables of the method that the hook receives as further arguments follow the hook: {@code +this}, or {@code +1} for
 * the first parameter. A line {@code field CLASS NAME} adds a field of type Object to a class.
 */
record Site(int count, String owner, String method, What what, String target, String hook, List<String> extra) {
    /** The kind of change at a site. */
    enum What { CALL, FIRST, STORE, ENTER, RETURN, WRAP, ANSWER, FIELD }

    static Site of(String line) {
        String[] words = line.trim().split(" +");
        if (words[0].equals("field")) {
            return new Site(1, words[1], "", What.FIELD, words[2], "", List.of());
        }
        List<String> extra = new ArrayList<>();
        for (int i = 6; i < words.length; i++) {
            extra.add(words[i].substring(1));
        }
        What what = What.valueOf(words[3].toUpperCase(java.util.Locale.ROOT));
        return new Site(Integer.parseInt(words[0]), words[1], words[2], what, words[4], words[5], List.copyOf(extra));
    }

    /** Returns whether the site may be in the method. */
    boolean isIn(String name, String desc) {
        int colon = method.indexOf(':');
        String wanted = colon < 0 ? method : method.substring(0, colon);
        if (colon >= 0 && !desc.contains(method.substring(colon + 1))) {
            return false;
        }
        return wanted.endsWith("*") ? name.startsWith(wanted.substring(0, wanted.length() - 1)) : name.equals(wanted);
    }

    /** Returns whether an instruction refers to the target: a class without its package, and a member. */
    boolean names(String classOfTarget, String member) {
        String simple = classOfTarget.substring(classOfTarget.lastIndexOf('/') + 1);
        return target.equals(simple + "." + member);
    }

    @Override
    public String toString() {
        return owner.replace('/', '.') + (method.isEmpty() ? "" : "." + method) + ", "
                + what.name().toLowerCase(java.util.Locale.ROOT) + " " + target;
    }
}
