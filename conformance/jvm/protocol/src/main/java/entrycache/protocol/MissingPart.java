package entrycache.protocol;

/**
 * The error of an adapter that looks for a part of the implementation which the implementation does not have: a field,
 * a method, a type. Nothing about the implementation follows from it.
 */
public final class MissingPart extends LinkageError {
    private static final long serialVersionUID = 1;

    /** Names the part, such as {@code org.example.Cache has no field size}. */
    public MissingPart(String part) {
        super(part);
    }
}
