package entrycache.recorder;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/**
 * Puts the hooks into one class and counts the sites.
 *
 * <p>A hook is a static call in straight-line code: no branch is added to a released method, so its stack maps stay
 * valid. A wrapped method is renamed, and a new method with the original name calls it.
 */
final class Weaver {
    private static final int API = Opcodes.ASM9;

    /** The kinds of change that do not belong to an instruction. */
    private static final Set<Site.What> UNSITED = Set.of(Site.What.FIELD, Site.What.WRAP, Site.What.ANSWER);

    /** A class with its hooks, and each site whose count differs from the expected one. */
    record Woven(byte[] file, List<String> differences) { }

    private final String owner;
    private final List<Site> sites;
    private final Classes classes;
    private final Map<Site, Integer> counts = new HashMap<>();
    private final List<String> differences = new ArrayList<>();
    private final Map<String, Set<String>> hooks = new HashMap<>();

    Weaver(String owner, List<Site> sites, Classes classes) {
        this.owner = owner;
        this.sites = sites;
        this.classes = classes;
    }

    /** Returns the class with its hooks. */
    Woven weave(byte[] file) {
        ClassReader reader = new ClassReader(file);
        ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
        reader.accept(new Hooked(writer), 0);
        for (Site site : sites) {
            int count = counts.getOrDefault(site, 0);
            if (count != site.count()) {
                differences.add(site + ": " + count + " times, expected " + site.count());
            }
        }
        return new Woven(writer.toByteArray(), differences);
    }

    /** Counts a site and returns whether its hook goes there. */
    private boolean counted(Site site) {
        int count = counts.merge(site, 1, Integer::sum);
        return site.what() != Site.What.FIRST || count == 1;
    }

    private final class Hooked extends ClassVisitor {
        Hooked(ClassVisitor next) {
            super(API, next);
        }

        @Override
        public void visit(int version, int access, String name, String signature, String superName, String[] interfaces) {
            super.visit(version, access, name, signature, superName, interfaces);
            for (Site site : sites) {
                if (site.what() == Site.What.FIELD) {
                    counted(site);
                    int hidden = Opcodes.ACC_PUBLIC | Opcodes.ACC_TRANSIENT | Opcodes.ACC_SYNTHETIC;
                    visitField(hidden, site.target(), "Ljava/lang/Object;", null, null).visitEnd();
                }
            }
        }

        @Override
        public MethodVisitor visitMethod(int access, String name, String desc, String signature, String[] thrown) {
            for (Site site : sites) {
                boolean outside = site.what() == Site.What.WRAP || site.what() == Site.What.ANSWER;
                if (outside && site.isIn(name, desc) && counted(site)) {
                    if (site.what() == Site.What.WRAP) {
                        wrap(site, access, name, desc);
                    } else {
                        answer(site, access, name, desc);
                    }
                    return method(super.visitMethod(access, inner(name), desc, signature, thrown), access, name, desc);
                }
            }
            return method(super.visitMethod(access, name, desc, signature, thrown), access, name, desc);
        }

        private MethodVisitor method(MethodVisitor next, int access, String name, String desc) {
            List<Site> here = sites.stream().filter(site -> !UNSITED.contains(site.what()) && site.isIn(name, desc))
                    .toList();
            return here.isEmpty() ? next : new Method(next, access, desc, here);
        }

        /** Adds a method that calls the first hook, the renamed original method, and then the other hook. */
        private void wrap(Site site, int access, String name, String desc) {
            int outside = access & ~Opcodes.ACC_SYNCHRONIZED;
            Type[] taken = Type.getArgumentTypes(desc);
            Object[] locals = new Object[taken.length + 1];
            locals[0] = owner;
            MethodVisitor code = super.visitMethod(outside, name, desc, null, null);
            Label begin = new Label();
            Label end = new Label();
            Label failed = new Label();
            code.visitCode();
            code.visitTryCatchBlock(begin, end, failed, null);
            self(code, site.hook());
            code.visitLabel(begin);
            code.visitVarInsn(Opcodes.ALOAD, 0);
            int at = 1;
            for (int i = 0; i < taken.length; i++) {
                code.visitVarInsn(taken[i].getOpcode(Opcodes.ILOAD), at);
                locals[i + 1] = verified(taken[i]);
                at += taken[i].getSize();
            }
            code.visitMethodInsn(Opcodes.INVOKEVIRTUAL, owner, inner(name), desc, false);
            code.visitLabel(end);
            self(code, site.target());
            code.visitInsn(Type.getReturnType(desc).getOpcode(Opcodes.IRETURN));
            code.visitLabel(failed);
            code.visitFrame(Opcodes.F_FULL, locals.length, locals, 1, new Object[] {"java/lang/Throwable"});
            self(code, site.target());
            code.visitInsn(Opcodes.ATHROW);
            code.visitMaxs(0, 0);
            code.visitEnd();
        }

        /** Adds a method that calls the renamed original method and returns what the hook makes of its result. */
        private void answer(Site site, int access, String name, String desc) {
            Type[] taken = Type.getArgumentTypes(desc);
            Type result = Type.getReturnType(desc);
            MethodVisitor code = super.visitMethod(access & ~Opcodes.ACC_SYNCHRONIZED, name, desc, null, null);
            code.visitCode();
            code.visitVarInsn(Opcodes.ALOAD, 0);
            int at = 1;
            for (Type each : taken) {
                code.visitVarInsn(each.getOpcode(Opcodes.ILOAD), at);
                at += each.getSize();
            }
            code.visitMethodInsn(Opcodes.INVOKEVIRTUAL, owner, inner(name), desc, false);
            code.visitVarInsn(Opcodes.ALOAD, 0);
            code.visitIntInsn(Opcodes.BIPUSH, taken.length);
            code.visitTypeInsn(Opcodes.ANEWARRAY, "java/lang/Object");
            at = 1;
            for (int i = 0; i < taken.length; i++) {
                code.visitInsn(Opcodes.DUP);
                code.visitIntInsn(Opcodes.BIPUSH, i);
                code.visitVarInsn(taken[i].getOpcode(Opcodes.ILOAD), at);
                if (taken[i].getSort() == Type.LONG) {
                    code.visitMethodInsn(Opcodes.INVOKESTATIC, "java/lang/Long", "valueOf", "(J)Ljava/lang/Long;", false);
                }
                code.visitInsn(Opcodes.AASTORE);
                at += taken[i].getSize();
            }
            String values = result.getDescriptor() + "Ljava/lang/Object;[Ljava/lang/Object;";
            call(code, site.hook(), "(" + values + ")" + result.getDescriptor());
            code.visitInsn(Opcodes.ARETURN);
            code.visitMaxs(0, 0);
            code.visitEnd();
        }

        private void self(MethodVisitor code, String hook) {
            code.visitVarInsn(Opcodes.ALOAD, 0);
            call(code, hook, "(L" + owner + ";)V");
        }

        private void call(MethodVisitor code, String hook, String hookDesc) {
            int dot = hook.lastIndexOf('.');
            if (!methodsOf(hook.substring(0, dot)).contains(hook.substring(dot + 1) + hookDesc)) {
                differences.add(owner + ": the hook would be " + hook + hookDesc);
            }
            code.visitMethodInsn(Opcodes.INVOKESTATIC, hook.substring(0, dot), hook.substring(dot + 1), hookDesc, false);
        }

        /** Returns the type of a variable as stack maps name it. */
        private static Object verified(Type type) {
            return switch (type.getSort()) {
                case Type.LONG -> Opcodes.LONG;
                case Type.DOUBLE -> Opcodes.DOUBLE;
                case Type.FLOAT -> Opcodes.FLOAT;
                case Type.OBJECT, Type.ARRAY -> type.getInternalName();
                default -> Opcodes.INTEGER;
            };
        }

        private static String inner(String name) {
            return name + "$recorded";
        }
    }

    private final class Method extends MethodVisitor {
        private final int access;
        private final String desc;
        private final List<Site> here;

        Method(MethodVisitor next, int access, String desc, List<Site> here) {
            super(API, next);
            this.access = access;
            this.desc = desc;
            this.here = here;
        }

        @Override
        public void visitCode() {
            super.visitCode();
            for (Site site : here) {
                if (site.what() == Site.What.ENTER && counted(site)) {
                    hook(site, "", "V");
                }
            }
        }

        @Override
        public void visitMethodInsn(int opcode, String target, String name, String targetDesc, boolean isInterface) {
            for (Site site : here) {
                boolean wanted = site.what() == Site.What.CALL || site.what() == Site.What.FIRST;
                if (wanted && site.names(target, name) && counted(site)) {
                    String receiver = opcode == Opcodes.INVOKESTATIC ? "" : "L" + target + ";";
                    String values = targetDesc.substring(1, targetDesc.indexOf(')'));
                    hook(site, receiver + values, targetDesc.substring(targetDesc.indexOf(')') + 1));
                    return;
                }
            }
            super.visitMethodInsn(opcode, target, name, targetDesc, isInterface);
        }

        @Override
        public void visitFieldInsn(int opcode, String target, String name, String type) {
            for (Site site : here) {
                boolean wanted = opcode == Opcodes.PUTFIELD && site.what() == Site.What.STORE;
                if (wanted && site.names(target, name) && counted(site)) {
                    hook(site, "L" + target + ";" + type, "V");
                    return;
                }
            }
            super.visitFieldInsn(opcode, target, name, type);
        }

        @Override
        public void visitInsn(int opcode) {
            if (opcode == Opcodes.RETURN || opcode == Opcodes.ARETURN) {
                for (Site site : here) {
                    if (site.what() == Site.What.RETURN && counted(site)) {
                        returned(site, opcode);
                    }
                }
            }
            super.visitInsn(opcode);
        }

        private void returned(Site site, int opcode) {
            if (opcode == Opcodes.RETURN) {
                hook(site, "", "V");
            } else {
                super.visitInsn(Opcodes.DUP);
                hook(site, Type.getReturnType(desc).getDescriptor(), "V");
            }
        }

        private void hook(Site site, String values, String result) {
            StringBuilder taken = new StringBuilder("(").append(values);
            for (String name : site.extra()) {
                boolean self = name.equals("this");
                Type type = self ? Type.getObjectType(owner) : Type.getArgumentTypes(desc)[Integer.parseInt(name) - 1];
                super.visitVarInsn(type.getOpcode(Opcodes.ILOAD), self ? 0 : variable(Integer.parseInt(name) - 1));
                taken.append(type.getDescriptor());
            }
            String hookDesc = taken.append(')').append(result).toString();
            int dot = site.hook().lastIndexOf('.');
            String hookClass = site.hook().substring(0, dot);
            String hookName = site.hook().substring(dot + 1);
            if (!methodsOf(hookClass).contains(hookName + hookDesc)) {
                differences.add(site + ": the hook would be " + site.hook() + hookDesc);
            }
            super.visitMethodInsn(Opcodes.INVOKESTATIC, hookClass, hookName, hookDesc, false);
        }

        private int variable(int parameter) {
            int at = (access & Opcodes.ACC_STATIC) == 0 ? 1 : 0;
            Type[] types = Type.getArgumentTypes(desc);
            for (int i = 0; i < parameter; i++) {
                at += types[i].getSize();
            }
            return at;
        }
    }

    /** Returns the static methods of a class of hooks without loading the class. */
    private Set<String> methodsOf(String hookClass) {
        return hooks.computeIfAbsent(hookClass, name -> {
            Set<String> methods = new HashSet<>();
            byte[] file = Classes.of(Weaver.class.getClassLoader()).find(name);
            if (file != null) {
                new ClassReader(file).accept(new ClassVisitor(API) {
                    @Override
                    public MethodVisitor visitMethod(int access, String method, String desc, String s, String[] e) {
                        if ((access & Opcodes.ACC_STATIC) != 0) {
                            methods.add(method + desc);
                        }
                        return null;
                    }
                }, ClassReader.SKIP_CODE);
            }
            return methods;
        });
    }
}
