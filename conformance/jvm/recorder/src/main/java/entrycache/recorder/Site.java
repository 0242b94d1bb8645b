package entrycache.recorder;

import java.util.ArrayList;
import java.util.List;

/**
 * One kind of place in a released class that is hooked, and how often it must be there.
 *
 * <p>Read from a line of a {@code *.sites} file: count, class, method (a {@code *} at its end stands for any more
 * letters, {@code :TEXT} for one whose descriptor holds it), what, target, hook. What is one of
 * <ul>
 * <li>{@code call}: a call of the target becomes a call of the hook with the same values on the stack; {@code first}:
 *     of the calls that are there only the first one does;
 * <li>{@code store}: a write of the target field becomes a call of the hook;
 * <li>{@code enter}: the hook is called first in the method;
 * <li>{@code return}: the hook is called in front of each return, with the value that is returned, where there is one.
 * </ul>
 * Behind the hook stand variables of the method that it is given besides: {@code +this}, {@code +1} for the first
 * parameter. A line {@code field CLASS NAME} adds a field of type Object to a class.
 */
record Site(int count, String owner, String method, What what, String target, String hook, List<String> extra) {
    /** What is done at a site. */
    enum What { CALL, FIRST, STORE, ENTER, RETURN, FIELD }

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

    /** Whether a method is one that the site may be in. */
    boolean isIn(String name, String desc) {
        int colon = method.indexOf(':');
        String wanted = colon < 0 ? method : method.substring(0, colon);
        if (colon >= 0 && !desc.contains(method.substring(colon + 1))) {
            return false;
        }
        return wanted.endsWith("*") ? name.startsWith(wanted.substring(0, wanted.length() - 1)) : name.equals(wanted);
    }

    /** Whether an instruction names the target: a class and a member, without the package of the class. */
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
